// Runs of a rule: what it saw, what it did, and why not.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useDevicesById } from '../../api/workspace-records.ts';
import { useLogEvents } from '../../session/use-workspace-events.ts';
import { Card } from '../../ui/card.tsx';
import { Chip, Dot, type Tone } from '../../ui/chip.tsx';
import { Pager } from '../../ui/paged-list.tsx';
import { Answered, Bone, Empty } from '../../ui/states.tsx';
import { duration, secondsOfIso } from '../../words/formats.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { RuleFrame } from './rule-frame.tsx';
import { type RuleRun, runsKey, runsOf } from './rule-requests.ts';
import { rulesWords } from './rules-words.ts';
import styles from './rules.module.css';

const tones: Readonly<Record<RuleRun['outcome'], Tone>> = {
  FIRED: 'sun',
  NOT_FIRED: 'plain',
  SUPPRESSED: 'plain',
  ABORTED: 'warn',
  FAILED: 'bad',
  DROPPED: 'warn',
  LATE: 'plain',
};

export function OutcomeChip({ outcome }: { readonly outcome: RuleRun['outcome'] }) {
  const words = useWords(rulesWords);
  return <Chip tone={tones[outcome]}>{words.outcomes[outcome]}</Chip>;
}

interface RunRowsProps {
  readonly workspaceId: string;
  readonly runs: readonly RuleRun[];
}

export function RunRows({ workspaceId, runs }: RunRowsProps) {
  const words = useWords(rulesWords);
  const { instant } = useFormats();
  const devices = useDevicesById(
    workspaceId,
    runs.map(({ deviceId }) => deviceId),
  );
  return (
    <ul className={`divided ${styles['runs']}`}>
      {runs.map((run, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a run has no id, and two may share a time
        <li key={`${run.timestamp} ${at}`}>
          <time className="num mute" dateTime={run.timestamp}>
            {instant(run.timestamp)}
          </time>
          <span className="cut">
            {run.deviceId === null
              ? words.timer
              : (devices.get(run.deviceId)?.name ?? run.deviceId)}
          </span>
          <span className="cut mono mute">{seenIn(run)}</span>
          <span className="cut faint">{reasonOf(run, words)}</span>
          <OutcomeChip outcome={run.outcome} />
        </li>
      ))}
    </ul>
  );
}

/** The values that a run read, as in `leak = false`. */
function seenIn({ inputs }: RuleRun): string {
  return inputs
    .map(
      ({ dataKey, value }) => `${dataKey} = ${value === undefined ? '?' : JSON.stringify(value)}`,
    )
    .join(', ');
}

type RunWords = typeof rulesWords.en;

/** Comparisons such as `22.4 is not above 25; 3 is above 2`. */
function compared(said: string, { relations }: RunWords): string {
  return said
    .split('; ')
    .map((one) => {
      const found = /^(.*?) (is(?: not)?(?: above| below| at least| at most)?) (.*)$/s.exec(one);
      const [, first = '', relation = '', second = ''] = found ?? [];
      const word = (relations as Readonly<Record<string, string>>)[relation];
      return word === undefined ? one : `${first} ${word} ${second}`;
    })
    .join('; ');
}

/** What the platform says in English of a run, in the words of the console. */
const reasons: readonly (readonly [
  RegExp,
  (words: RunWords, part: string, time: string, rest: string) => string,
])[] = [
  [/^no condition was met$/, (words) => words.noBlock],
  [/^no condition was met: (.+)$/s, (words, said) => compared(said, words)],
  [
    /^logic block (\d+) was true: (.+)$/s,
    (words, place, _time, said) => words.blockOf(place, compared(said, words)),
  ],
  [/^logic block (\d+) was true$/, (words, place) => words.block(place)],
  [/^logic block (\d+) was true for (.+)$/, (words, place, time) => words.held(place, time)],
  [/^logic block (\d+) is met .* after (.+)$/, (words, place, time) => words.holds(place, time)],
  [/^logic block (\d+) is not met .* after (.+)$/, (words, place, time) => words.ends(place, time)],
  [/^true, but no action is configured$/, (words) => words.noAction],
  [/^not judged: what is usual for (.+) is being learned$/s, (words, key) => words.learning(key)],
  [/^not judged: what is usual for (.+) is not known/s, (words, key) => words.unjudged(key)],
  [/^no value for (.+)$/, (words, names) => words.noValue(names)],
  [/^inside the geofence$/, (words) => words.inside],
  [/^outside the geofence$/, (words) => words.outside],
  [/^no uplink for longer than the rule allows$/, (words) => words.silent],
  [/^an uplink was received$/, (words) => words.heard],
  [/^the script emitted no action$/, (words) => words.noEmit],
  [/^the script emitted (\d+) actions?$/, (words, count) => words.emitted(Number(count))],
  [/^the sample is of .*older than the newest/, (words) => words.late],
  [/^the sample timestamp .* is more than a day in the future/, (words) => words.ahead],
];

/** The platform's own text where it is none of the known ones, such as an error of a script. */
function reasonOf({ reason }: Pick<RuleRun, 'reason'>, words: RunWords): string {
  const each = reason.split(/, (?=logic block \d+ )/);
  return each.map((one) => partOfReason(one, words)).join(', ');
}

function partOfReason(reason: string, words: RunWords): string {
  for (const [pattern, said] of reasons) {
    const found = pattern.exec(reason);
    if (found === null) continue;
    const [, part = '', iso = ''] = found;
    return said(words, part, duration(secondsOfIso(iso) ?? 0), iso);
  }
  return reason;
}

// Runs of a rule: what it saw, what it did, and why not.

const route = '/signed-in/shell/w/$workspaceId/rules/$ruleId/runs';
const runRows = 50;

export function RuleRuns() {
  const { workspaceId, ruleId } = useParams({ from: route });
  const { page = 0 } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/w/$workspaceId/rules/$ruleId/runs' });
  return (
    <RuleFrame workspaceId={workspaceId} ruleId={ruleId} request={{ path: '/runs' }}>
      {() => (
        <RunCard
          workspaceId={workspaceId}
          ruleId={ruleId}
          size={runRows}
          page={page}
          go={(to) => void navigate({ search: { page: to } })}
        />
      )}
    </RuleFrame>
  );
}

interface RunCardProps {
  readonly workspaceId: string;
  readonly ruleId: string;
  readonly size: number;
  readonly page?: number;
  /** Without it only the first page is shown. */
  readonly go?: (page: number) => void;
}

export function RunCard({ workspaceId, ruleId, size, page = 0, go }: RunCardProps) {
  const words = useWords(rulesWords);
  const runs = useQuery(runsOf(ruleId, size, page));
  useLogEvents({
    workspaceId,
    kind: 'RULE_RUN',
    key: runsKey(ruleId),
    isOf: ({ rule }) => (rule as { readonly id: string }).id === ruleId,
  });
  const path = `/v3/rules/${ruleId}/runs`;
  return (
    <Card title={words.lastRuns} note={words.lastRunsNote} mark={<Dot tone="live" />}>
      <Answered answer={runs} curl={{ path }} skeleton={<Bone width="100%" />}>
        {({ content, totalPages }) =>
          content.length === 0 ? (
            <Empty title={words.noRuns} note={words.noRunsNote} />
          ) : (
            <>
              <RunRows workspaceId={workspaceId} runs={content} />
              {go !== undefined && <Pager page={page} pages={totalPages} go={go} />}
            </>
          )
        }
      </Answered>
    </Card>
  );
}
