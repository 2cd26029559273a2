-- The lease, the lineage and the view, for a reader. Writes nothing.

return step(function()
  local lease = read_lease()
  local meta = read_meta()
  local view = read('the view of namespace ' .. ARGV[3], 'HGET', KEYS[4], 'body')
  local flat = redis.call('HGETALL', KEYS[2])
  return { 'ok', shown_lineage(meta, lease), NOW_US, view, flat }
end)
