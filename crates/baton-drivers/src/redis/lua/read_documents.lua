-- Reads a document.
--
-- ARGV: 4 name

return step(function()
  read_meta()
  local record = 'the documents of namespace ' .. ARGV[3]
  local found = read(record, 'HMGET', KEYS[5], 'v:' .. ARGV[4], 'b:' .. ARGV[4])
  return { 'ok', found[1], found[2] }
end)
