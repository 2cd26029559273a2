-- Old records go: nodes that were silent for long, then terms beyond those that are kept.
--
-- ARGV: 4 fence, 5 silent for this many microseconds, 6 terms kept, 7 the most that may go

return step(function()
  local nodes = 'the nodes of namespace ' .. ARGV[3]
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local known = read(nodes, 'HGETALL', KEYS[3])
  local terms = read(TERMS, 'LRANGE', KEYS[6], 0, -1)
  keep(meta)
  if is_fenced_off(meta, lease, ARGV[4]) then return { 'ok', meta.lineage, false } end
  local most, before = tonumber(ARGV[7]), NOW - tonumber(ARGV[5])
  local gone = {}
  for at = 1, #known, 2 do
    local beat_at = tonumber(string.match(known[at + 1], '^%x+ %d+ (%d+) '))
    if beat_at and beat_at <= before and #gone < most then table.insert(gone, known[at]) end
  end
  for _, node in ipairs(gone) do write('HDEL', KEYS[3], node) end
  local beyond = math.max(math.min(#terms - tonumber(ARGV[6]), most - #gone), 0)
  if beyond > 0 then write('LTRIM', KEYS[6], beyond, -1) end
  if #gone + beyond > 0 then write('HSET', KEYS[1], 'fence', ARGV[4]) end
  return { 'ok', meta.lineage, string.format('%.0f', #gone + beyond) }
end)
