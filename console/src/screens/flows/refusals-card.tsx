// Refused here: uplinks of a connector that the platform did not take, with the reason and what was sent.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Chip } from '../../ui/chip.tsx';
import { late } from '../../ui/late.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { CodeBlock } from '../../ui/states.tsx';
import { toastFailure } from '../../ui/toasts.tsx';
import { useMay } from '../../session/permissions.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { connectorWords } from './connector-words.ts';
import { useAction } from '../../ui/use-action.ts';

const RegisterRefused = late(
  'RegisterRefused',
  async () => (await import('../why/register-refused.tsx')).RegisterRefused,
);

type Refusal = components['schemas']['Refusal'];

/** The platform shows a refusal within five seconds. */
const refreshMs = 5_000;
const rowsMax = 50;

const refusalsOf = (id: string) =>
  queryOptions({
    queryKey: ['refusals', id],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { size: rowsMax } };
      return ask(platform.GET('/v3/device-connectors/{id}/refusals', { signal, params }));
    },
  });

interface RefusalsCardProps {
  readonly workspaceId: string;
  readonly connectorId: string;
}

/** Nothing while nothing was refused. */
export function RefusalsCard({ workspaceId, connectorId }: RefusalsCardProps) {
  const words = useWords(connectorWords);
  const { count } = useFormats();
  const mayClear = useMay(workspaceId, 'asset', 'delete');
  const known = useQueryClient();
  const { data } = useQuery(refusalsOf(connectorId));
  const clear = useAction({
    mutationFn: () =>
      ask(
        platform.DELETE('/v3/device-connectors/{id}/refusals', {
          params: { path: { id: connectorId } },
        }),
      ),
    onError: toastFailure,
    onSettled: () => known.invalidateQueries({ queryKey: ['refusals'] }),
  });
  if (data === undefined || data.totalElements === 0) return null;
  return (
    <Card
      title={words.refusedHere}
      note={words.refusedNote}
      mark={<Chip>{count(data.totalElements)}</Chip>}
      actions={
        <Button disabled={!mayClear || clear.isPending} onClick={() => clear.mutate()}>
          {words.clearRefused}
        </Button>
      }
    >
      <ListTable
        headers={[words.refusedId, words.refusedReason, words.refusedLast, words.refusedTimes]}
        actions={words.registerRefused}
      >
        {data.content.map((refusal) => (
          <RefusalRow key={refusal.id} refusal={refusal} workspaceId={workspaceId} />
        ))}
      </ListTable>
    </Card>
  );
}

interface RowProps {
  readonly refusal: Refusal;
  readonly workspaceId: string;
}

function RefusalRow({ refusal, workspaceId }: RowProps) {
  const words = useWords(connectorWords);
  const { count } = useFormats();
  const { deviceId, reason, transport, message, last, payload, registeredDeviceId } = refusal;
  const [isRegistering, setRegistering] = useState(false);
  return (
    <tr>
      <th scope="row" className="mono">
        {deviceId ?? words.noRefusedId}
      </th>
      <td>
        {words.refusedReasons[reason]} <span className="faint">{transport}</span>
        <details className="breaks">
          <summary>{words.refusedMore}</summary>
          <p>{message}</p>
          {payload !== null && <CodeBlock code={payload} />}
        </details>
      </td>
      <td>
        <Ago at={last} />
      </td>
      <td className="num">{count(refusal.count)}</td>
      <td>
        {reason === 'UNKNOWN_DEVICE' && deviceId !== null && registeredDeviceId === null && (
          <Button needs="asset: create" aria-haspopup="dialog" onClick={() => setRegistering(true)}>
            {words.registerRefused}
          </Button>
        )}
        {registeredDeviceId !== null && (
          <ButtonLink
            to="/w/$workspaceId/devices/$deviceId/overview"
            params={{ workspaceId, deviceId: registeredDeviceId }}
          >
            {words.refusedDevice}
          </ButtonLink>
        )}
        {isRegistering && deviceId !== null && (
          <RegisterRefused
            workspaceId={workspaceId}
            deviceId={deviceId}
            refusalId={refusal.id}
            close={() => setRegistering(false)}
          />
        )}
      </td>
    </tr>
  );
}
