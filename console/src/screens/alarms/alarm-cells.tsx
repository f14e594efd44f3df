// Cells of the alarm list: the alarm with its place, how often and since when, and its actions.
import { Link } from '@tanstack/react-router';
import { Check, CircleCheckBig } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Alarm, AlarmState } from '../../api/alarms.ts';
import { createWatchedValue, useWatchedPart } from '../../api/watched-value.ts';
import { useAlarmEvents } from '../../session/use-workspace-events.ts';
import { Button } from '../../ui/button.tsx';
import { AlarmStateChip, Severity } from '../../ui/severity.tsx';
import { useWords } from '../../words/language.tsx';
import { alarmsWords } from './alarms-words.ts';
import styles from './alarms.module.css';

function AlarmLink({ alarm: { id, name, workspaceId } }: { readonly alarm: Alarm }) {
  return (
    <Link
      to="/w/$workspaceId/alarms/$alarmId"
      params={{ workspaceId, alarmId: id }}
      title={name}
      tabIndex={-1}
    >
      {name}
    </Link>
  );
}

interface NameProps {
  readonly alarm: Alarm;
  /** Undefined in a list of one state, where the word would be the same in each row. */
  readonly state: AlarmState | undefined;
}

export function NameCell({ alarm, state }: NameProps) {
  return (
    <span className={`row gap-10 shrinks ${styles['name']}`}>
      <FreshMark id={alarm.id} />
      <AlarmLink alarm={alarm} />
      {state !== undefined && <AlarmStateChip of={state} />}
    </span>
  );
}

interface StackedProps extends NameProps {
  readonly facts: ReactNode;
}

/** All of an alarm in one cell, for a phone. */
export function StackedCell({ alarm, state, facts }: StackedProps) {
  const { severity, device, rule } = alarm;
  const place = [device?.name, rule?.name].filter((one) => one !== undefined).join(' · ');
  return (
    <span className={styles['stacked']}>
      <span className={`row gap-10 shrinks ${styles['name']}`}>
        <FreshMark id={alarm.id} />
        <Severity of={severity} isQuiet />
        <AlarmLink alarm={alarm} />
      </span>
      <span className="mute">{place}</span>
      <span className={styles['facts']}>
        {state !== undefined && <AlarmStateChip of={state} />}
        {facts}
      </span>
    </span>
  );
}

export function DeviceCell({ alarm: { device, workspaceId } }: { readonly alarm: Alarm }) {
  if (device === null) return <span className="faint">–</span>;
  return (
    <Link
      to="/w/$workspaceId/devices/$deviceId"
      params={{ workspaceId, deviceId: device.id }}
      title={device.name}
      tabIndex={-1}
    >
      {device.name}
    </Link>
  );
}

export function RuleCell({ alarm: { rule, workspaceId } }: { readonly alarm: Alarm }) {
  if (rule === null) return <span className="faint">–</span>;
  return (
    <Link
      to="/w/$workspaceId/rules/$ruleId/edit"
      params={{ workspaceId, ruleId: rule.id }}
      title={rule.name}
      tabIndex={-1}
    >
      {rule.name}
    </Link>
  );
}

interface ActionsProps {
  readonly alarm: Alarm;
  readonly acknowledge: (alarm: Alarm) => void;
  readonly clear: (alarm: Alarm) => void;
}

export function ActionsCell({ alarm, acknowledge, clear }: ActionsProps) {
  const words = useWords(alarmsWords);
  const { state, name } = alarm;
  return (
    <span className={`flow justify-end gap-4 ${styles['actions']}`}>
      {state === 'OPEN' && (
        <Button
          needs="rule: update"
          look="ghost"
          isIcon
          tabIndex={-1}
          aria-label={words.acknowledgeOne(name)}
          title={words.acknowledge}
          onClick={() => acknowledge(alarm)}
        >
          <Check aria-hidden="true" />
        </Button>
      )}
      {state !== 'CLEARED' && (
        <Button
          needs="rule: update"
          look="ghost"
          isIcon
          tabIndex={-1}
          aria-label={words.clearOne(name)}
          title={words.clear}
          onClick={() => clear(alarm)}
        >
          <CircleCheckBig aria-hidden="true" />
        </Button>
      )}
    </span>
  );
}

// Fresh alarms: those that changed a moment ago, so that their rows can glow once.

/** The glow begins when the list has the row, up to a second after the event. */
const freshMs = 3_200;

const fresh = createWatchedValue(new Set<string>());

/** Takes note of what opens or is triggered again while the list is shown; of no workspace without an id. */
export function useFreshAlarms(workspaceId: string): void {
  useAlarmEvents(workspaceId, ({ change, alarm: { id } }) => {
    if (change !== 'OPENED' && change !== 'UPDATED' && change !== 'ESCALATED') return;
    const ids = fresh.get();
    ids.add(id);
    fresh.set(ids);
    setTimeout(() => {
      ids.delete(id);
      fresh.set(ids);
    }, freshMs);
  });
}

/** An invisible mark in a row; the table glows where one is set. */
function FreshMark({ id }: { readonly id: string }) {
  const isFresh = useWatchedPart(fresh, (ids) => ids.has(id));
  return isFresh ? <span data-fresh hidden /> : null;
}
