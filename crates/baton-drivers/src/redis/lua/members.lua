-- Every node record, and the time.

return step(function()
  read_meta()
  return { 'ok', NOW_US, read('the nodes of namespace ' .. ARGV[3], 'HGETALL', KEYS[3]) }
end)
