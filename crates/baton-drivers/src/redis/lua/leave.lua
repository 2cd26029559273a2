-- Takes a node's record out, if it is still this boot's.
--
-- ARGV: 4 node, 5 boot

return step(function()
  local record = 'the record of node ' .. ARGV[4] .. ' in namespace ' .. ARGV[3]
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local known = read(record, 'HGET', KEYS[3], ARGV[4])
  keep(meta)
  if not known or string.match(known, '^(%x+) ') ~= ARGV[5] then
    return { 'ok', meta.lineage, 'conflict' }
  end
  write('HDEL', KEYS[3], ARGV[4])
  return { 'ok', meta.lineage, 'applied' }
end)
