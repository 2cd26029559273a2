-- The last terms, the newest last.
--
-- ARGV: 4 how many, at least 1

return step(function()
  read_meta()
  return { 'ok', read(TERMS, 'LRANGE', KEYS[6], -tonumber(ARGV[4]), -1) }
end)
