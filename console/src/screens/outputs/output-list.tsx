// Outputs: every output of the workspace with its type, its target and its deliveries of a day.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ButtonLink } from '../../ui/button.tsx';
import { Dot } from '../../ui/chip.tsx';
import { Segments } from '../../ui/choice.tsx';
import { ListPage, ListSearchField, PagedList } from '../../ui/paged-list.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { FailureReason } from './delivery-state.tsx';
import { type OutputItem, outputsOf } from './output-requests.ts';
import type { OutputSearch } from './output-search.ts';
import { targetOf } from './output-types.ts';
import { outputsWords, typeNameOf, typeWords } from './outputs-words.ts';
import styles from './outputs.module.css';

const route = '/signed-in/shell/w/$workspaceId/outputs';

export function Outputs() {
  const words = useWords(outputsWords);
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const outputs = useQuery(outputsOf(workspaceId, search));
  const path = `/v3/output-connectors?workspaceId=${workspaceId}`;
  const add = (
    <ButtonLink look="primary" to="/w/$workspaceId/outputs/new" params={{ workspaceId }}>
      <Plus aria-hidden="true" />
      {words.add}
    </ButtonLink>
  );
  return (
    <ListPage words={words} answer={outputs} path={path} actions={add}>
      <ListTools search={search} />
      <PagedList
        answer={outputs}
        path={path}
        headers={[words.name, words.type, words.target, words.state]}
        words={words}
        isNarrowed={search.scope !== undefined}
        add={add}
        row={(output) => <OutputRow output={output} workspaceId={workspaceId} />}
      />
    </ListPage>
  );
}

function ListTools({ search }: { readonly search: OutputSearch }) {
  const words = useWords(outputsWords);
  const navigate = useNavigate({ from: '/w/$workspaceId/outputs' });
  const scope = search.scope ?? 'ALL';
  return (
    <div className="flow wrap gap-12">
      <ListSearchField label={words.search} />
      <Segments
        label={words.used}
        value={scope}
        options={[
          { value: 'ALL', label: words.all },
          { value: 'DATA_FLOW', label: words.scopes.DATA_FLOW },
          { value: 'RULE_ACTION', label: words.scopes.RULE_ACTION },
        ]}
        choose={(chosen) => {
          const { page: _, scope: __, ...others } = search;
          void navigate({ search: chosen === 'ALL' ? others : { ...others, scope: chosen } });
        }}
      />
    </div>
  );
}

interface RowProps {
  readonly output: OutputItem;
  readonly workspaceId: string;
}

function OutputRow({ output, workspaceId }: RowProps) {
  const words = useWords(outputsWords);
  const types = useWords(typeWords);
  const target = targetOf(output);
  const hidden = output.global ? words.own : words.secretTarget;
  return (
    <tr>
      <th scope="row">
        {output.type === 'DATABASE' ? (
          output.name
        ) : (
          <Link
            to="/w/$workspaceId/outputs/$outputId/deliveries"
            params={{ workspaceId, outputId: output.id }}
          >
            {output.name}
          </Link>
        )}
        <small className="faint">{words.scopeOf[output.scope]}</small>
      </th>
      <td>{typeNameOf(types, output.type)}</td>
      <td className={target === '' ? 'faint' : 'mono'}>{target || hidden}</td>
      <td>
        {output.health ? <Deliveries health={output.health} /> : <span className="faint">–</span>}
        {(output.health?.deliveries.nextTry ?? null) !== null && (
          <FailureReason outputId={output.id} />
        )}
      </td>
    </tr>
  );
}

type Health = NonNullable<OutputItem['health']>;

/** `412 today, 3 waiting, next try 14:07`, and the hours behind it. */
function Deliveries({ health }: { readonly health: Health }) {
  const words = useWords(outputsWords);
  const { count, clock } = useFormats();
  const { ok, waiting, failed, nextTry, okPerHour, failedPerHour } = health.deliveries;
  if (ok + waiting + failed === 0) return <span className="faint">{words.noneToday}</span>;
  const tone = failed > 0 ? 'bad' : waiting > 0 ? 'warn' : 'ok';
  return (
    <span className="row inline wrap gap-y-4 gap-x-8">
      <HourStrip ok={okPerHour} failed={failedPerHour} />
      <Dot tone={tone} />
      <span className="num">
        {[
          words.today(count(ok)),
          failed > 0 && words.failedToday(count(failed)),
          waiting > 0 && words.waitingNow(count(waiting)),
          nextTry !== null && words.nextTryAt(clock(nextTry)),
        ]
          .filter(Boolean)
          .join(', ')}
      </span>
    </span>
  );
}

// Hour strip: deliveries of 24 hours as bars, those that arrived in green and those that failed in red.

interface HourStripProps {
  /** By hour, the oldest first. */
  readonly ok: readonly number[];
  readonly failed: readonly number[];
}

const height = 22;
const barPx = 4;
const stepPx = 5;
/** An hour without any is a line, so that the strip keeps its shape. */
const leastPx = 1.5;

function HourStrip({ ok, failed }: HourStripProps) {
  const words = useWords(outputsWords);
  const { count } = useFormats();
  const most = Math.max(1, ...ok.map((many, at) => many + (failed[at] ?? 0)));
  const sum = (list: readonly number[]) => count(list.reduce((total, many) => total + many, 0));
  return (
    <svg
      className={styles['strip']}
      viewBox={`0 0 ${ok.length * stepPx} ${height}`}
      role="img"
      aria-label={words.strip(sum(ok), sum(failed))}
    >
      {ok.map((many, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- an hour has no other identity
        <Bar key={at} x={at * stepPx} ok={many / most} failed={(failed[at] ?? 0) / most} />
      ))}
    </svg>
  );
}

interface BarProps {
  readonly x: number;
  /** Shares of the height. */
  readonly ok: number;
  readonly failed: number;
}

function Bar({ x, ok, failed }: BarProps) {
  if (ok + failed === 0)
    return (
      <rect
        className={styles['none']}
        {...{ x, y: height - leastPx, width: barPx }}
        height={leastPx}
      />
    );
  const heightOf = (share: number) => (share === 0 ? 0 : Math.max(2, share * height));
  const [okPx, failedPx] = [heightOf(ok), heightOf(failed)];
  return (
    <>
      <rect className={styles['ok']} x={x} y={height - okPx} width={barPx} height={okPx} />
      <rect
        className={styles['failed']}
        x={x}
        y={Math.max(0, height - okPx - failedPx)}
        width={barPx}
        height={failedPx}
      />
    </>
  );
}
