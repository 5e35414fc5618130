-- Fields of merged.pcapng for Wireshark and tshark: what pcaplat found of each frame.
--
-- `pcaplat merge -o DIR --pcapng` writes one comment a frame:
--   pcaplat: status=matched trajectory_id=17 latency_ns=1510 from=host1-vm
-- This post-dissector makes fields of it, so that they filter, sort, colour and plot:
--   pcaplat.latency_ns > 20000, pcaplat.trajectory_id == 17, pcaplat.status == "unmatched"

set_plugin_info({
  version = "1.0",
  description = "Fields of a capture that pcaplat merged",
})

local pcaplat = Proto("pcaplat", "pcaplat: one packet at several capture points")
local status = ProtoField.string("pcaplat.status", "Status")
local trajectory_id = ProtoField.uint64("pcaplat.trajectory_id", "Trajectory", base.DEC)
local latency_ns = ProtoField.int64("pcaplat.latency_ns", "Latency since the point before, ns", base.DEC)
local from = ProtoField.string("pcaplat.from", "Point before")
local point = ProtoField.string("pcaplat.point", "Capture point")
local segment = ProtoField.string("pcaplat.segment", "Segment")
pcaplat.fields = { status, trajectory_id, latency_ns, from, point, segment }

local comment_of = Field.new("frame.comment")
local interface_of = Field.new("frame.interface_name")

-- numbers of Lua are exact up to 2^53 only: a trajectory has more bits in the 512th capture
local function integer(digits)
  local value = UInt64(0)
  for chunk in digits:gmatch("%d%d?%d?%d?%d?%d?%d?%d?") do
    value = value * UInt64(math.floor(10 ^ #chunk)) + UInt64(tonumber(chunk))
  end
  return value
end

local function signed(digits)
  local size = integer(digits:match("%d+"))
  local value = Int64.new(size:lower(), size:higher())
  return digits:sub(1, 1) == "-" and -value or value
end

local function add_fields(branch, text, interface)
  local found, whole = text:match("^status=(%S+)"), text:match(" trajectory_id=(%d+)")
  local nanoseconds, before = text:match(" latency_ns=(%-?%d+) from=(.*)$")
  if found then
    branch:add(status, found)
    branch:append_text(": " .. found)
  end
  if whole then
    branch:add(trajectory_id, integer(whole))
  end
  if interface then
    branch:add(point, interface)
  end
  if nanoseconds then
    branch:add(latency_ns, signed(nanoseconds))
    branch:add(from, before)
    branch:append_text(", " .. nanoseconds .. " ns since " .. before)
    if interface then
      branch:add(segment, before .. " > " .. interface)
    end
  end
end

function pcaplat.dissector(buffer, _, tree)
  local interface = interface_of()
  for _, comment in ipairs({ comment_of() }) do
    local text = tostring(comment.value):match("^pcaplat: (.*)$")
    if text then
      local branch = tree:add(pcaplat, buffer(0, 0))
      add_fields(branch, text, interface and tostring(interface.value))
    end
  end
end

register_postdissector(pcaplat)
