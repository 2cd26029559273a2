-- The term history: a list, the newest term last. One term is a line of seven words:
-- epoch node boot began_ms ended_ms how gap_ms, with '-' for what is not there. After a term that
-- was not released the gap is two numbers, at least and at most: 1000..15900.

local TERMS = 'the terms of namespace ' .. ARGV[3]

local function last_term()
  local line = read(TERMS, 'LINDEX', KEYS[6], -1)
  if not line then return nil end
  local epoch, began, ended = string.match(line, '^(%d+) %S+ %x+ (%d+) (%S+) %S+ %S+$')
  if not epoch then spoilt(TERMS, 'the newest is not a term') end
  return { line = line, epoch = epoch, began = began, ended = ended }
end

local function end_term(last, at_ms, how)
  local head, gap = string.match(last.line, '^(%S+ %S+ %S+ %S+) %S+ %S+ (%S+)$')
  write('LSET', KEYS[6], -1, head .. ' ' .. at_ms .. ' ' .. how .. ' ' .. gap)
  last.ended = at_ms
end

-- With how long the last holder was silent, if it did not release the lease.
local function begin_term(last, epoch, node, boot, silent_ms)
  local gap = '-'
  if last and last.ended ~= '-' then gap = minus(NOW_MS, last.ended) end
  if silent_ms then gap = gap .. '..' .. silent_ms end
  write('RPUSH', KEYS[6], epoch .. ' ' .. node .. ' ' .. boot .. ' ' .. NOW_MS .. ' - - ' .. gap)
  write('LTRIM', KEYS[6], -KEPT_TERMS, -1)
end
