// Alarm feed: durable changes of alarms as values, for live events and counts (contract 37).
import type { ShownAlarmEvent } from './alarm-notifications.ts';

type Follow = (event: ShownAlarmEvent) => void;

export interface AlarmFeed {
  /** Adds a function that is called for each durable change, in the order of each alarm's changes. */
  follow(follow: Follow): void;
  publish(events: readonly ShownAlarmEvent[]): void;
}

export function createAlarmFeed(): AlarmFeed {
  const followers: Follow[] = [];
  return {
    follow: (follow) => void followers.push(follow),
    publish(events) {
      for (const event of events) for (const follow of followers) follow(event);
    },
  };
}
