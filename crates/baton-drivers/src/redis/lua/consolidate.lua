-- Applies the oldest pending changes, up to a limit, and takes them off the pending by the same
-- command; unless a later epoch is known.
--
-- ARGV: 4 fence, 5 how many

return step(function()
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local first, after = pending_ends()
  local asked, at = {}, first
  while #asked < tonumber(ARGV[5]) and less(at, after) do
    table.insert(asked, 'q:' .. at)
    at = plus(at, '1')
  end
  local changes, names, seen = {}, {}, {}
  for _, line in ipairs(fields(asked)) do
    local kind, amount, name = string.match(line or '', '^(%l+) (%-?%d+) (.+)$')
    if not kind then spoilt(COUNTERS, 'a pending change is not one') end
    table.insert(changes, { kind, amount, name })
    if not seen[name] then
      seen[name] = true
      table.insert(names, name)
    end
  end
  local values = values_of('c:', names)
  keep(meta)
  if is_fenced_off(meta, lease, ARGV[4]) then return { 'ok', meta.lineage, 'fenced', '0', '0' } end
  for _, change in ipairs(changes) do
    values[change[3]] = changed(values[change[3]], change[1], change[2])
  end
  write('HSET', KEYS[1], 'fence', ARGV[4])
  if #changes > 0 then
    local set = { 'HSET', KEYS[7], 'first', at }
    for _, name in ipairs(names) do
      table.insert(set, 'c:' .. name)
      table.insert(set, values[name])
    end
    write(unpack(set))
    -- No script reads what is before the first.
    write('HDEL', KEYS[7], unpack(asked))
  end
  local more = '0'
  if less(at, after) then more = '1' end
  return { 'ok', meta.lineage, 'done', tostring(#changes), more }
end)
