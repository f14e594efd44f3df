// Simulation of a rule: when it would have fired over the stored samples, without sending anything.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Card } from '../../ui/card.tsx';
import { Segments } from '../../ui/choice.tsx';
import { hasDraft } from '../../session/session.ts';
import { Answered, Empty } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { endOfDay, localOf } from '../../words/zone-times.ts';
import { RuleFrame } from './rule-frame.tsx';
import type { Rule } from './rule-model.ts';
import { simulatedDays, simulationOf } from './rule-requests.ts';
import { rulesWords } from './rules-words.ts';
import styles from './rules.module.css';
import { RunRows } from './rule-runs.tsx';

const route = '/signed-in/shell/w/$workspaceId/rules/$ruleId/simulate';
const dayMs = 86_400_000;

export function RuleSimulate() {
  const { workspaceId, ruleId } = useParams({ from: route });
  const { days = 7 } = useSearch({ from: route });
  const [openedMs] = useState(() => Date.now());
  const instant = (ms: number) => new Date(ms).toISOString();
  const body = { from: instant(openedMs - days * dayMs), to: instant(openedMs) };
  const request = { method: 'POST', path: '/simulate', body } as const;
  return (
    <RuleFrame workspaceId={workspaceId} ruleId={ruleId} request={request}>
      {(rule) => <Simulated rule={rule} workspaceId={workspaceId} />}
    </RuleFrame>
  );
}

interface SimulatedProps {
  readonly rule: Rule;
  readonly workspaceId: string;
}

function Simulated({ rule, workspaceId }: SimulatedProps) {
  const words = useWords(rulesWords);
  const { days = 7 } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/w/$workspaceId/rules/$ruleId/simulate' });
  const simulation = useQuery(simulationOf(rule.id, rule.version, days));
  return (
    <>
      <div className="row wrap gap-12">
        <Segments
          label={words.range}
          value={String(days)}
          options={simulatedDays.map((one) => ({ value: String(one), label: words.days(one) }))}
          choose={(chosen) =>
            void navigate({
              search: { days: simulatedDays.find((one) => String(one) === chosen) ?? 7 },
            })
          }
        />
        {hasDraft(`rule ${rule.id}`) && <p className={styles['warning']}>{words.unsavedNote}</p>}
      </div>
      <Answered
        answer={simulation}
        curl={{ method: 'POST', path: `/v3/rules/${rule.id}/simulate` }}
        skeleton={<p role="status">{words.simulating}</p>}
      >
        {(found) => <Findings found={found} workspaceId={workspaceId} />}
      </Answered>
    </>
  );
}

type Found = Awaited<ReturnType<NonNullable<ReturnType<typeof simulationOf>['queryFn']>>>;

function Findings({ found, workspaceId }: { readonly found: Found; readonly workspaceId: string }) {
  const words = useWords(rulesWords);
  const { count } = useFormats();
  const { fired, samples, runs, truncated, content } = found;
  const firings = content.filter(({ outcome }) => outcome === 'FIRED').toReversed();
  return (
    <>
      <Card title={words.perDay} note={words.perDayNote} isPadded>
        <p className={styles['figure']} role="status">
          {words.wouldHave(count(fired), fired)}
        </p>
        <p className="mute">
          {words.lookedAt(samples, runs)} {truncated ? words.truncated : ''}
        </p>
        <DayBars
          from={found.from}
          to={found.to}
          times={firings.map(({ timestamp }) => timestamp)}
        />
      </Card>
      <Card title={words.timeline} note={words.timelineNote}>
        {firings.length === 0 ? (
          <Empty title={words.never} />
        ) : (
          <RunRows workspaceId={workspaceId} runs={firings.slice(0, shownMax)} />
        )}
      </Card>
    </>
  );
}

const shownMax = 200;

interface BarsProps {
  readonly from: string;
  readonly to: string;
  readonly times: readonly string[];
}

/** A bar per day, with a tick for every time on the line below. */
function DayBars({ from, to, times }: BarsProps) {
  const words = useWords(rulesWords);
  const { count, day, zone } = useFormats();
  const days = daysOf(from, to, times, zone);
  const most = Math.max(1, ...days.map(({ fired }) => fired));
  const [start, end] = [Date.parse(from), Date.parse(to)];
  return (
    <>
      <ol className={styles['days']}>
        {days.map(({ at, fired }) => (
          <li key={at} title={words.firedOn(day(at), count(fired))}>
            <b className="num">{fired === 0 ? '' : count(fired)}</b>
            <span style={{ height: `${(fired / most) * 96}px` }} />
            <small>{day(at)}</small>
          </li>
        ))}
      </ol>
      <svg
        className={styles['ticks']}
        viewBox="0 0 1000 16"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {times.map((time, index) => {
          const x = ((Date.parse(time) - start) / (end - start)) * 1_000;
          // oxlint-disable-next-line react/no-array-index-key -- two firings may share a time
          return <line key={`${time} ${index}`} x1={x} x2={x} y1="0" y2="16" />;
        })}
      </svg>
    </>
  );
}

// Days of a range: how often something happened on each, by the clocks of a zone.

interface Day {
  /** Some instant of the day. */
  readonly at: string;
  readonly fired: number;
}

/** Every day that the range touches, oldest first, also those without anything. */
function daysOf(from: string, to: string, times: readonly string[], zone: string): readonly Day[] {
  const dayOf = (iso: string) => localOf(iso, zone).slice(0, 'yyyy-mm-dd'.length);
  const fired = new Map<string, number>();
  for (const time of times) fired.set(dayOf(time), (fired.get(dayOf(time)) ?? 0) + 1);
  const days: Day[] = [];
  const last = dayOf(to);
  let at = from;
  for (let left = 400; left > 0; left--) {
    const day = dayOf(at);
    days.push({ at, fired: fired.get(day) ?? 0 });
    if (day === last) break;
    at = endOfDay(day, zone);
  }
  return days;
}
