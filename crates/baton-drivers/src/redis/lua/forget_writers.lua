-- Forgets writers that have appended nothing since a while, up to a limit; unless a later epoch is
-- known.
--
-- ARGV: 4 fence, 5 how many milliseconds, 6 how many writers

return step(function()
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local silent = read(COUNTERS, 'ZRANGEBYSCORE', KEYS[9], '-inf', minus(NOW_MS, ARGV[5]),
    'LIMIT', '0', ARGV[6])
  keep(meta)
  if is_fenced_off(meta, lease, ARGV[4]) then return { 'ok', meta.lineage, 'fenced', '0', '0' } end
  write('HSET', KEYS[1], 'fence', ARGV[4])
  if #silent > 0 then
    local last = {}
    for at, writer in ipairs(silent) do last[at] = 'w:' .. writer end
    write('HDEL', KEYS[7], unpack(last))
    write('ZREM', KEYS[9], unpack(silent))
  end
  return { 'ok', meta.lineage, 'done', tostring(#silent), '0' }
end)
