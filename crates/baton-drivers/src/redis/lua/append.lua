-- Appends changes of counters, unless the writer has appended this number or a higher one.
--
-- ARGV: 4 writer, 5 its number; then for each change: 'add' or 'set', amount, name

return step(function()
  read_meta()
  local last = fields({ 'w:' .. ARGV[4] })[1] or '0'
  if not is_number(last) then spoilt(COUNTERS, 'the last append of a writer is not a number') end
  if not less(last, ARGV[5]) then return { 'ok' } end
  local names, seen = {}, {}
  for at = 6, #ARGV, 3 do
    local name = ARGV[at + 2]
    if not seen[name] then
      seen[name] = true
      table.insert(names, name)
    end
  end
  local current = values_of('n:', names)
  local _, after = pending_ends()
  local set = { 'HSET', KEYS[7], 'w:' .. ARGV[4], ARGV[5] }
  local function put(field, value)
    table.insert(set, field)
    table.insert(set, value)
  end
  for at = 6, #ARGV, 3 do
    local kind, amount, name = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    current[name] = changed(current[name], kind, amount)
    put('q:' .. after, kind .. ' ' .. amount .. ' ' .. name)
    after = plus(after, '1')
  end
  put('next', after)
  for _, name in ipairs(names) do put('n:' .. name, current[name]) end
  read(COUNTERS, 'ZCARD', KEYS[8])
  read(COUNTERS, 'ZCARD', KEYS[9])
  local listed = { 'ZADD', KEYS[8] }
  for _, name in ipairs(names) do
    table.insert(listed, '0')
    table.insert(listed, name)
  end
  if #names > 0 then write(unpack(listed)) end
  write('ZADD', KEYS[9], NOW_MS, ARGV[4])
  write(unpack(set))
  return { 'ok' }
end)
