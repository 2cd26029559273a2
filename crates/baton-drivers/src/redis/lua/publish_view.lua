-- Publishes a view, unless a later epoch is known or this term published one as high.
--
-- ARGV: 4 fence, 5 the view's epoch, 6 its number, 7 its body, 8 channel, 9 hint

return step(function()
  local record = 'the view of namespace ' .. ARGV[3]
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local known = read(record, 'HMGET', KEYS[4], 'epoch', 'number')
  if known[1] and not (is_number(known[1]) and is_number(known[2])) then
    spoilt(record, 'its version is not one')
  end
  keep(meta)
  local older = known[1] == ARGV[5] and not less(known[2], ARGV[6])
  if older or is_fenced_off(meta, lease, ARGV[4]) then
    return { 'ok', meta.lineage, 'conflict' }
  end
  write('HSET', KEYS[4], 'epoch', ARGV[5], 'number', ARGV[6], 'body', ARGV[7])
  write('HSET', KEYS[1], 'fence', ARGV[4])
  publish(ARGV[8], ARGV[9])
  return { 'ok', meta.lineage, 'applied' }
end)
