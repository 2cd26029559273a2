-- Writes documents, all or none: of each two fields of one hash, 'v:name' its version and 'b:name' its
-- body. Names differ.
--
-- ARGV: 4 fence or ''; then for each document: name, 'any', 'absent' or 'version', that version, body
--
-- Answers 'written' and the versions; 'conflict', the first document whose precondition does not hold,
-- counted from 0, and its version; or 'fenced'.

local function holds(word, version, present)
  return word == 'any' or (word == 'absent' and present == '0')
    or (word == 'version' and present ~= '0' and present == version)
end

return step(function()
  local record = 'the documents of namespace ' .. ARGV[3]
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local fields = {}
  for at = 5, #ARGV, 4 do table.insert(fields, 'v:' .. ARGV[at]) end
  local present = read(record, 'HMGET', KEYS[5], unpack(fields))
  for at = 1, #fields do
    present[at] = present[at] or '0'
    if not is_number(present[at]) then
      spoilt(record, 'the version of ' .. string.sub(fields[at], 3) .. ' is not a number')
    end
  end
  keep(meta)
  if ARGV[4] ~= '' and is_fenced_off(meta, lease, ARGV[4]) then
    return { 'ok', meta.lineage, 'fenced', {} }
  end
  local set, versions = { 'HSET', KEYS[5] }, {}
  for at = 5, #ARGV, 4 do
    local index = (at - 5) / 4
    local known = present[index + 1]
    if not holds(ARGV[at + 1], ARGV[at + 2], known) then
      return { 'ok', meta.lineage, 'conflict', { string.format('%.0f', index), known } }
    end
    local version = plus(known, '1')
    table.insert(versions, version)
    for _, word in ipairs({ 'v:' .. ARGV[at], version, 'b:' .. ARGV[at], ARGV[at + 3] }) do
      table.insert(set, word)
    end
  end
  write(unpack(set))
  if ARGV[4] ~= '' then write('HSET', KEYS[1], 'fence', ARGV[4]) end
  return { 'ok', meta.lineage, 'written', versions }
end)
