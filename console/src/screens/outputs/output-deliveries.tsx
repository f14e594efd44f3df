// Delivery log of an output: state, tries, answer and payload of each delivery, and sending again.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ChevronRight, RotateCw } from 'lucide-react';
import { useId, useState } from 'react';
import { useDevicesById } from '../../api/workspace-records.ts';
import { useLogEvents } from '../../session/use-workspace-events.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dot } from '../../ui/chip.tsx';
import { Segments } from '../../ui/choice.tsx';
import { ListBones, Pager } from '../../ui/paged-list.tsx';
import { late } from '../../ui/late.tsx';
import { Answered, CodeBlock, Empty } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { DeliveryChip } from './delivery-state.tsx';
import { OutputFrame } from './output-frame.tsx';
import {
  deliveriesKey,
  deliveriesOf,
  type Delivery,
  readable,
  resendFailed,
  resendOne,
} from './output-requests.ts';
import { type DeliverySearch, deliveryStates } from './output-search.ts';
import { outputsWords } from './outputs-words.ts';
import styles from './outputs.module.css';

const Why = late('Why', async () => (await import('../why/why.tsx')).Why);

const route = '/signed-in/shell/w/$workspaceId/outputs/$outputId/deliveries';

export function OutputDeliveries() {
  const { workspaceId, outputId } = useParams({ from: route });
  return (
    <OutputFrame
      workspaceId={workspaceId}
      outputId={outputId}
      request="/deliveries"
      actions={<ResendFailed outputId={outputId} />}
    >
      {() => <DeliveryLog workspaceId={workspaceId} outputId={outputId} />}
    </OutputFrame>
  );
}

/** Only there while something failed. */
function ResendFailed({ outputId }: { readonly outputId: string }) {
  const words = useWords(outputsWords);
  const { count } = useFormats();
  const known = useQueryClient();
  const failed = useQuery(deliveriesOf(outputId, { state: 'DEAD' }, 1));
  const resend = useAction({
    mutationFn: () => resendFailed(outputId),
    onSuccess: ({ resent }) => toast(words.resentAll(count(resent))),
    onError: toastFailure,
    onSettled: () => known.invalidateQueries({ queryKey: deliveriesKey(outputId) }),
  });
  const total = failed.data?.totalElements ?? 0;
  if (total === 0) return null;
  return (
    <Button
      needs="dataFlow: update"
      look="primary"
      disabled={resend.isPending}
      onClick={() => resend.mutate()}
    >
      <RotateCw aria-hidden="true" />
      {words.resendAll(count(total))}
    </Button>
  );
}

interface LogProps {
  readonly workspaceId: string;
  readonly outputId: string;
}

function DeliveryLog({ workspaceId, outputId }: LogProps) {
  const words = useWords(outputsWords);
  const search = useSearch({ from: route });
  const navigate = useNavigate({ from: '/w/$workspaceId/outputs/$outputId/deliveries' });
  const deliveries = useQuery(deliveriesOf(outputId, search));
  useLogEvents({
    workspaceId,
    kind: 'DELIVERY',
    key: deliveriesKey(outputId),
    isOf: ({ delivery }) =>
      (delivery as { readonly outputConnectorId: string }).outputConnectorId === outputId,
  });
  const path = `/v3/output-connectors/${outputId}/deliveries`;
  return (
    <Card
      title={words.log}
      note={words.logNote}
      mark={<Dot tone="live" />}
      actions={
        <Segments
          label={words.filter}
          value={search.state ?? 'ALL'}
          options={[
            { value: 'ALL', label: words.all },
            ...deliveryStates.map((value) => ({ value, label: words.states[value] })),
          ]}
          choose={(state) => void navigate({ search: state === 'ALL' ? {} : { state } })}
        />
      }
    >
      <Answered answer={deliveries} curl={{ path }} skeleton={<ListBones rows={3} />}>
        {({ content, totalPages }) => (
          <>
            <Rows rows={content} search={search} workspaceId={workspaceId} />
            <Pager
              page={search.page ?? 0}
              pages={totalPages}
              go={(page) => void navigate({ search: (before) => ({ ...before, page }) })}
            />
          </>
        )}
      </Answered>
    </Card>
  );
}

interface RowsProps {
  readonly rows: readonly Delivery[];
  readonly search: DeliverySearch;
  readonly workspaceId: string;
}

function Rows({ rows, search, workspaceId }: RowsProps) {
  const words = useWords(outputsWords);
  const devices = useDevicesById(
    workspaceId,
    rows.map(({ deviceId }) => deviceId),
  );
  if (rows.length === 0 && search.state !== undefined)
    return <Empty title={words.nothingInState} />;
  if (rows.length === 0) return <Empty title={words.nothingSent} note={words.nothingSentNote} />;
  return (
    <ul className="divided">
      {rows.map((delivery) => (
        <DeliveryRow
          key={delivery.id}
          delivery={delivery}
          device={devices.get(delivery.deviceId)?.name}
        />
      ))}
    </ul>
  );
}

// Row of the delivery log; it opens to the payload, the answer and the reason.

interface DeliveryRowProps {
  readonly delivery: Delivery;
  /** Its name, once known. */
  readonly device: string | undefined;
}

function DeliveryRow({ delivery, device }: DeliveryRowProps) {
  const words = useWords(outputsWords);
  const { instant } = useFormats();
  const details = useId();
  const [isOpen, setOpen] = useState(false);
  const { created, state, tries, answer, reason, deviceId } = delivery;
  return (
    <li>
      <div className={styles['delivery']}>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={details}
          aria-label={words.details(instant(created))}
          onClick={() => setOpen(!isOpen)}
        >
          <ChevronRight aria-hidden="true" />
        </button>
        <time className="num mute" dateTime={created}>
          {instant(created)}
        </time>
        <DeliveryChip state={state} />
        <span className="mute num">{words.tries(tries)}</span>
        <span className="cut">{device ?? deviceId}</span>
        <span className="cut faint">{reason ?? answer ?? ''}</span>
        {state === 'PENDING' ? <span /> : <Resend delivery={delivery} />}
      </div>
      <div id={details} hidden={!isOpen}>
        {isOpen && <Details delivery={delivery} />}
      </div>
    </li>
  );
}

function Resend({ delivery }: { readonly delivery: Delivery }) {
  const words = useWords(outputsWords);
  const known = useQueryClient();
  const resend = useAction({
    mutationFn: () => resendOne(delivery.id),
    onSuccess: () => toast(words.resent),
    onError: toastFailure,
    onSettled: () =>
      known.invalidateQueries({ queryKey: deliveriesKey(delivery.outputConnectorId) }),
  });
  return (
    <Button
      needs="dataFlow: update"
      look={delivery.state === 'DEAD' ? 'plain' : 'ghost'}
      disabled={resend.isPending}
      onClick={() => resend.mutate()}
    >
      {words.resend}
    </Button>
  );
}

function Details({ delivery }: { readonly delivery: Delivery }) {
  const words = useWords(outputsWords);
  const { instant } = useFormats();
  const { payload, answer, reason, correlationId, nextTry, cause } = delivery;
  const { workspaceId, deviceId, outputConnectorId } = delivery;
  return (
    <div className={styles['details']}>
      {deviceId !== '' && cause !== 'REPORT' && (
        <div>
          <Why
            workspaceId={workspaceId}
            deviceId={deviceId}
            question={{ correlationId, outputConnectorId }}
          />
        </div>
      )}
      <dl className={styles['facts']}>
        <div>
          <dt>{words.cause}</dt>
          <dd>{words.causes[cause]}</dd>
        </div>
        <div>
          <dt>{words.correlation}</dt>
          <dd className="mono">{correlationId}</dd>
        </div>
        {nextTry !== null && (
          <div>
            <dt>{words.nextTry}</dt>
            <dd className="num">{instant(nextTry)}</dd>
          </div>
        )}
      </dl>
      <Told title={words.reason} code={reason} />
      <Told title={words.answer} code={answer} />
      <Told title={words.payload} code={readable(payload)} />
    </div>
  );
}

function Told({ title, code }: { readonly title: string; readonly code: string | null }) {
  if (code === null || code === '') return null;
  return (
    <div>
      <h3>{title}</h3>
      <CodeBlock code={code} />
    </div>
  );
}
