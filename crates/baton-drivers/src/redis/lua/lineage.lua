-- Which line of history the data belongs to, and how a new one begins.
--
-- A new one begins when another server process holds the data than the one that wrote it (it was
-- restarted, or a replica was promoted: the last writes may be lost), when the process has followed
-- another one since (it was demoted, took that one's data over its own, and was promoted again), when
-- the caller has seen a higher one (the data went back, or was flushed), and when the lease is gone
-- though one was granted (it was evicted or deleted). A lineage is the millisecond in which it began,
-- or one more than the last known if that is higher: so the same copy, back for the second time,
-- begins another one.
--
-- The server is asked in the very step that decides. Its run_id names the process. Its replid names
-- the history that it writes: one that is promoted draws another, and keeps the last as replid2. It
-- draws one too when its first replica comes, and an hour after its last one went; that costs a
-- lineage, since the same is seen after a failover and back that no step saw.
--
-- A server that syncs every write to its log has lost nothing when it is started again on that log.
-- Then the lineage goes on, if a caller who was there before says so: no other caller can tell
-- an older copy of the log. Two fields, left by each beat, tell a log from all else that the data may be:
--
--           in memory   in the log   in replicas and snapshots, and in what is rewritten from memory
--   here        1           -            1
--   mark    the time of the beat         the same; behind what the caller saw if data went back

local META = 'the meta record of namespace ' .. ARGV[3]

-- What INFO shows of the server, asked once a script: some 2 microseconds a section.
local facts
local function server()
  if not facts then
    local process, history = read(META, 'INFO', 'server'), read(META, 'INFO', 'replication')
    facts = {
      run_id = string.match(process, '\nrun_id:(%x+)'),
      replid = string.match(history, '\nmaster_replid:(%x+)'),
      was_replica = string.find(history, '\nmaster_replid2:0*[1-9a-f]') ~= nil,
    }
    if not (facts.run_id and facts.replid) then
      error({ refusal = 'ERR INFO shows no run_id or no master_replid' })
    end
  end
  return facts
end

local function read_meta()
  local names = { 'schema', 'lineage', 'born_in', 'fence', 'granted', 'run_id', 'replid', 'synced',
    'mark', 'here', 'compatible' }
  local found = read(META, 'HMGET', KEYS[1], unpack(names))
  if not found[1] then return nil end
  local meta = {}
  for at = 1, 5 do
    if not is_number(found[at]) then spoilt(META, 'its ' .. names[at] .. ' is not a number') end
    meta[names[at]] = found[at]
  end
  for at = 6, #names do meta[names[at]] = found[at] end
  -- A layout from before there was a lowest compatible one is compatible with itself.
  local lowest = is_number(meta.compatible) and meta.compatible or meta.schema
  if less(SCHEMA, meta.schema) and less(SCHEMA, lowest) then
    error({ newer = meta.schema, lowest = lowest })
  end
  return meta
end

-- The highest lineage that is known of, '0' if none is.
local function known_lineage(meta, lease)
  local known = ARGV[2]
  if meta then known = higher(known, meta.lineage) end
  if lease then known = higher(known, higher(lease.written_in, lease.granted_in)) end
  return known
end

-- Was all that the last server process acknowledged in the log that this one has begun with?
local function goes_on(meta)
  return SYNCS and MARK_SEEN ~= '0' and not server().was_replica and meta.synced == meta.run_id
    and not meta.here and is_number(meta.mark) and not less(meta.mark, MARK_SEEN)
end

-- Has this process written the data, and followed no other since? Versions that did not look at the
-- replid have left none.
local function is_own(meta)
  return meta.run_id == server().run_id and (not meta.replid or meta.replid == server().replid)
end

local function is_settled(meta, lease)
  return meta and (is_own(meta) or goes_on(meta)) and not less(meta.lineage, ARGV[2])
    and (lease or meta.granted == '0')
end

-- The meta record as it is to be for this step; `keep` writes it if it is new.
local function settle(meta, lease)
  if is_settled(meta, lease) then return meta end
  local known = known_lineage(meta, lease)
  local lineage = NOW_MS
  if known ~= '0' then lineage = higher(plus(known, '1'), NOW_MS) end
  local born_in = lineage
  if meta then born_in = meta.born_in elseif known ~= '0' then born_in = known end
  local granted = '0'
  if lease then granted = lease.epoch end
  local fence = granted
  if meta then fence = higher(meta.fence, granted) end
  return { lineage = lineage, born_in = born_in, fence = fence, granted = granted, new = true,
    schema = meta and meta.schema }
end

-- Leaves the fields that tell, later on, whether a server goes on. The log is rewritten from memory
-- now and then, and has `here` after that, so it is taken out each time.
local function leave_traces()
  redis.set_repl(redis.REPL_AOF)
  write('HDEL', KEYS[1], 'here')
  redis.set_repl(redis.REPL_SLAVE)
  write('HSET', KEYS[1], 'here', '1')
  redis.set_repl(redis.REPL_ALL)
  write('HSET', KEYS[1], 'synced', server().run_id, 'mark', NOW_US)
end

local function keep(meta)
  local run_id, replid = server().run_id, server().replid
  local is_known = not meta.new and meta.run_id == run_id and meta.replid == replid
  if is_known and not less(meta.schema, SCHEMA) then return end
  write('HSET', KEYS[1], 'lineage', meta.lineage, 'born_in', meta.born_in, 'fence', meta.fence,
    'granted', meta.granted, 'run_id', run_id, 'replid', replid)
  -- What a later program has written stays of its version.
  if not (meta.schema and less(SCHEMA, meta.schema)) then
    write('HSET', KEYS[1], 'schema', SCHEMA, 'compatible', COMPATIBLE)
  end
end

-- What an onlooker is shown, who may not begin a lineage: the one that is there, or one above all
-- that is known if the next step will begin a new one.
local function shown_lineage(meta, lease)
  if is_settled(meta, lease) then return meta.lineage end
  local known = known_lineage(meta, lease)
  if known == '0' then return known end
  return plus(known, '1')
end
