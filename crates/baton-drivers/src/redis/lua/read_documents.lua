-- Reads documents: of each its version and its body, or nothing.
--
-- ARGV: 4 on: names

return step(function()
  read_meta()
  local fields = {}
  for at = 4, #ARGV do
    table.insert(fields, 'v:' .. ARGV[at])
    table.insert(fields, 'b:' .. ARGV[at])
  end
  local record = 'the documents of namespace ' .. ARGV[3]
  return { 'ok', read(record, 'HMGET', KEYS[5], unpack(fields)) }
end)
