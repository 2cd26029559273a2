-- Writes a document: two fields of one hash, 'v:name' its version and 'b:name' its body.
--
-- ARGV: 4 name, 5 body, 6 'any', 'absent' or 'version', 7 that version, 8 fence or ''

return step(function()
  local record = 'the documents of namespace ' .. ARGV[3]
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local present = read(record, 'HGET', KEYS[5], 'v:' .. ARGV[4]) or '0'
  if not is_number(present) then spoilt(record, 'the version of ' .. ARGV[4] .. ' is not a number') end
  keep(meta)
  if ARGV[8] ~= '' and is_fenced_off(meta, lease, ARGV[8]) then
    return { 'ok', meta.lineage, 'fenced', '0' }
  end
  local holds = ARGV[6] == 'any' or (ARGV[6] == 'absent' and present == '0')
    or (ARGV[6] == 'version' and present ~= '0' and present == ARGV[7])
  if not holds then return { 'ok', meta.lineage, 'conflict', present } end
  local version = plus(present, '1')
  write('HSET', KEYS[5], 'v:' .. ARGV[4], version, 'b:' .. ARGV[4], ARGV[5])
  if ARGV[8] ~= '' then write('HSET', KEYS[1], 'fence', ARGV[8]) end
  return { 'ok', meta.lineage, 'written', version }
end)
