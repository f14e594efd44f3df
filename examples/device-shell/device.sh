#!/bin/sh
# Device: sends a reading each minute with curl, keeps what it cannot send, and sends it later.
# Needs a POSIX shell and curl. Settings are environment variables, see README.md.
set -u
: "${UPLINK_SECRET:?set it to the uplink secret of the device connector}"
: "${DEVICE_ID:?set it to the device ID}"
url=${HELIOGRAPH_URL:-http://localhost:8080}/v3/capture
interval=${INTERVAL_SECONDS:-60}
buffer=${BUFFER:-unsent}
# A command that prints one reading as JSON.
sensor=${SENSOR:-'awk "{ print \"{\\\"load\\\":\" \$1 \"}\" }" /proc/loadavg'}
# A week of readings per minute. When the buffer is full, the oldest reading is dropped.
readings_max=10000
back_off_max=300

# Stores a reading in a file that has its time as name. The name appears when the file is complete.
measure() {
  time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  sh -c "$sensor" >"$buffer/.new" && mv "$buffer/.new" "$buffer/$time" || return
  if [ "$(ls "$buffer" | wc -l)" -gt "$readings_max" ]; then
    rm "$buffer/$(ls "$buffer" | head -n 1)"
  fi
}

# Prints the status of the response, 000 without one. The time identifies the reading: a repeated
# one is stored once. The secret goes through standard input, where other users cannot see it.
send() {
  printf 'x-uplink-secret: %s\nx-device-id: %s\nidempotency-key: %s-%s\n' \
    "$UPLINK_SECRET" "$DEVICE_ID" "$DEVICE_ID" "$1" |
    curl -sS --max-time 10 -o /dev/null -w '%{http_code}' -H @- -H 'content-type: application/json' \
      --data-binary "@$buffer/$1" "$url?timestamp=$1"
}

# Sends the oldest readings first, and stops at the first one that is not acknowledged.
send_all() {
  for time in $(ls "$buffer"); do
    status=$(send "$time")
    case $status in
      201) rm "$buffer/$time" ;;
      400 | 413 | 415 | 422) echo "rejected $time: $(cat "$buffer/$time")" && rm "$buffer/$time" ;;
      *) echo "status $status: $(ls "$buffer" | wc -l) unsent" && return 1 ;;
    esac
  done
}

mkdir -p "$buffer"
send_at=0
wait=1
while :; do
  measure
  now=$(date +%s)
  if [ "$now" -ge "$send_at" ]; then
    if send_all; then
      wait=1
    else
      send_at=$((now + wait))
      wait=$((wait * 2))
      [ "$wait" -le "$back_off_max" ] || wait=$back_off_max
    fi
  fi
  sleep "$interval"
done
