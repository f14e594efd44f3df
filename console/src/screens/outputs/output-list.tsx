// Outputs: every output of the workspace with its type, its target and its deliveries of a day.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ButtonLink } from '../../parts/button.tsx';
import { Sheet } from '../../parts/card.tsx';
import { Dot } from '../../parts/chip.tsx';
import { Segments } from '../../parts/choice.tsx';
import { CurlButton } from '../../parts/curl-button.tsx';
import { ListBones, ListTable } from '../../parts/list-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Answered, Bone, Empty } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { HourStrip } from './hour-strip.tsx';
import { type OutputItem, outputsOf } from './output-requests.ts';
import type { OutputSearch } from './output-search.ts';
import { targetOf } from './output-target.ts';
import styles from './outputs.module.css';
import { outputsWords } from './outputs-words.ts';
import { typeNameOf, typeWords } from './type-words.ts';

const route = '/signed-in/shell/w/$workspaceId/outputs';

export function Outputs() {
  const words = useWords(outputsWords);
  const { count } = useFormats();
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const outputs = useQuery(outputsOf(workspaceId, search));
  const total = outputs.data?.totalElements;
  const path = `/v3/output-connectors?workspaceId=${workspaceId}`;
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      lead={total === undefined ? <Bone width="5em" /> : words.count(count(total), total)}
      actions={
        <>
          <CurlButton request={{ path }} />
          <ButtonLink look="primary" to="/w/$workspaceId/outputs/new" params={{ workspaceId }}>
            <Plus aria-hidden="true" />
            {words.add}
          </ButtonLink>
        </>
      }
    >
      <ListTools search={search} />
      <Sheet>
        <Answered answer={outputs} curl={{ path }} skeleton={<ListBones />}>
          {({ content, totalPages }) =>
            content.length === 0 ? (
              <NoOutputs workspaceId={workspaceId} search={search} />
            ) : (
              <>
                <OutputTable outputs={content} workspaceId={workspaceId} />
                <PagerOf page={search.page ?? 0} pages={totalPages} />
              </>
            )
          }
        </Answered>
      </Sheet>
    </Page>
  );
}

function ListTools({ search }: { readonly search: OutputSearch }) {
  const words = useWords(outputsWords);
  const navigate = useNavigate({ from: '/w/$workspaceId/outputs' });
  const { page: _, ...kept } = search;
  const scope = search.scope ?? 'ALL';
  return (
    <div className={styles['tools']}>
      <SearchField
        label={words.search}
        value={search.q ?? ''}
        change={(q) => {
          const { q: __, ...others } = kept;
          void navigate({ search: q === '' ? others : { ...others, q }, replace: true });
        }}
      />
      <Segments
        label={words.used}
        value={scope}
        options={[
          { value: 'ALL', label: words.all },
          { value: 'DATA_FLOW', label: words.scopes.DATA_FLOW },
          { value: 'RULE_ACTION', label: words.scopes.RULE_ACTION },
        ]}
        choose={(chosen) => {
          const { scope: __, ...others } = kept;
          void navigate({ search: chosen === 'ALL' ? others : { ...others, scope: chosen } });
        }}
      />
    </div>
  );
}

function PagerOf(props: { readonly page: number; readonly pages: number }) {
  const navigate = useNavigate({ from: '/w/$workspaceId/outputs' });
  const go = (page: number) => void navigate({ search: (before) => ({ ...before, page }) });
  return <Pager {...props} go={go} />;
}

interface TableProps {
  readonly outputs: readonly OutputItem[];
  readonly workspaceId: string;
}

function OutputTable({ outputs, workspaceId }: TableProps) {
  const words = useWords(outputsWords);
  return (
    <ListTable headers={[words.name, words.type, words.target, words.state]}>
      {outputs.map((output) => (
        <OutputRow key={output.id} output={output} workspaceId={workspaceId} />
      ))}
    </ListTable>
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
  const hidden = output.type === 'DATABASE' ? words.own : words.secretTarget;
  return (
    <tr>
      <th scope="row">
        {output.global ? (
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
        {output.health ? <Deliveries health={output.health} /> : <span className="faint">·</span>}
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
    <span className={styles['health']}>
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

function NoOutputs({ workspaceId, search }: { workspaceId: string; search: OutputSearch }) {
  const words = useWords(outputsWords);
  if (search.q !== undefined || search.scope !== undefined)
    return <Empty title={words.noMatch} note={words.noMatchNote} />;
  const webhookProperties = { uri: 'https://example.com/in' };
  const body = { name: 'Webhook', workspaceId, type: 'WEBHOOK', webhookProperties };
  return (
    <Empty
      title={words.empty}
      note={words.emptyNote}
      actions={
        <ButtonLink look="primary" to="/w/$workspaceId/outputs/new" params={{ workspaceId }}>
          {words.add}
        </ButtonLink>
      }
      curl={{ method: 'POST', path: '/v3/output-connectors', body }}
    />
  );
}
