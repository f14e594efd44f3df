// Use tab: data flows and devices of this workspace that a change of the type touches; deleting it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Copy, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { PayloadEncoding } from '../../../../src/model/device-type.ts';
import { ask, platform } from '../../api/platform.ts';
import { useMayDo } from '../../session/permissions.ts';
import { useAccount } from '../../session/session.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Ago } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EncodingSelect } from '../../ui/encoding-select.tsx';
import { partWords } from '../../ui/part-words.ts';
import { Answered, Bone, Empty } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import {
  copyDeviceType,
  devicesOfType,
  devicesOfTypeBody,
  flowsOf,
} from './device-type-requests.ts';
import { usageWords } from './device-type-words.ts';
import { useEditedType } from './edited-type.tsx';
import styles from './use.module.css';

const devicesShown = 20;

export function UseTab() {
  return (
    <div className={styles['use']}>
      <Flows />
      <Devices />
      <Record />
    </div>
  );
}

function Flows() {
  const words = useWords(usageWords);
  const { workspaceId, type } = useEditedType();
  const flows = useQuery({
    ...flowsOf(workspaceId),
    select: ({ content }) => content.filter(({ deviceType }) => deviceType?.id === type.id),
  });
  const path = `/v3/data-flows?workspaceId=${workspaceId}`;
  return (
    <Card title={words.flows} note={words.flowsNote}>
      <Answered answer={flows} curl={{ path }} skeleton={<Skeleton />}>
        {(used) =>
          used.length === 0 ? (
            <Empty title={words.noFlow} note={words.noFlowNote} />
          ) : (
            <ul className={styles['list']}>
              {used.map(({ id, name }) => (
                <li key={id}>
                  <b>{name}</b>
                  <span className="mono faint">{id}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Card>
  );
}

function Devices() {
  const words = useWords(usageWords);
  const formats = useFormats();
  const { workspaceId, type } = useEditedType();
  const devices = useQuery(devicesOfType(workspaceId, type.id, devicesShown));
  const body = devicesOfTypeBody(workspaceId, type.id);
  const total = devices.data?.totalElements;
  return (
    <Card
      title={words.devices}
      note={total === undefined ? undefined : words.newest(formats.count(total), total)}
    >
      <Answered
        answer={devices}
        curl={{ method: 'POST', path: '/v3/assets/list', body }}
        skeleton={<Skeleton />}
      >
        {({ content }) =>
          content.length === 0 ? (
            <Empty title={words.noDevice} note={words.noDeviceNote} />
          ) : (
            <ul className={styles['list']}>
              {content.map(({ id, name, deviceId, uplinkMetrics }) => (
                <li key={id}>
                  <b>{name}</b>
                  <span className="mono faint">{deviceId}</span>
                  <span className="mute">
                    <Ago at={uplinkMetrics?.timestamp} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Card>
  );
}

function Record() {
  const words = useWords(usageWords);
  const { type } = useEditedType();
  const [isAsking, setAsking] = useState(false);
  const copy = useCopy();
  return (
    <Card title={words.record} isPadded>
      <dl className="facts">
        <dt>{words.id}</dt>
        <dd className="mono">{type.id}</dd>
        <dt>{words.version}</dt>
        <dd className="num">{type.version}</dd>
        <dt>{words.manufacturer}</dt>
        <dd>{type.meta.manufacturer ?? '–'}</dd>
        <dt>{words.connectivity}</dt>
        <dd>{type.meta.connectivity ?? '–'}</dd>
        <dt>{words.libraryPath}</dt>
        <dd className="mono">{type.libraryPath ?? '–'}</dd>
      </dl>
      <div className={styles['below']}>
        <EncodingField />
      </div>
      <div className={`row wrap gap-8 ${styles['below']}`}>
        <Button needs="deviceType: create" disabled={copy.isPending} onClick={() => copy.mutate()}>
          <Copy aria-hidden="true" />
          {words.copy}
        </Button>
        <Button needs="deviceType: delete" look="danger" onClick={() => setAsking(true)}>
          <Trash2 aria-hidden="true" />
          {words.remove}
        </Button>
      </div>
      {isAsking && <Removal close={() => setAsking(false)} />}
    </Card>
  );
}

function EncodingField() {
  const words = useWords(partWords);
  const { type, update } = useEditedType();
  const isAllowed = useMayDo('deviceType: update');
  const saving = useAction({
    mutationFn: (encoding: PayloadEncoding | null) =>
      update({ meta: { encoding }, version: type.version }),
    onSuccess: () => toast(words.encodingSaved),
    onError: toastFailure,
  });
  return (
    <EncodingSelect
      value={type.meta.encoding}
      disabled={saving.isPending || !isAllowed}
      change={(encoding) => saving.mutate(encoding)}
    />
  );
}

function useCopy() {
  const words = useWords(usageWords);
  const { organizationId } = useAccount();
  const { type, workspaceId } = useEditedType();
  const client = useQueryClient();
  const navigate = useNavigate();
  return useAction({
    mutationFn: () => copyDeviceType(type, words.copyOf(type.name), organizationId),
    async onSuccess({ id: typeId, name }) {
      await client.invalidateQueries({ queryKey: ['device-types'] });
      toast(words.copied(name));
      await navigate({
        to: '/w/$workspaceId/types/$typeId/decoder',
        params: { workspaceId, typeId },
      });
    },
    onError: toastFailure,
  });
}

function Removal({ close }: { readonly close: () => void }) {
  const words = useWords(usageWords);
  const { type, workspaceId, discard } = useEditedType();
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useAction({
    mutationFn: () =>
      ask(platform.DELETE('/v3/device-types/{id}', { params: { path: { id: type.id } } })),
    async onSuccess() {
      discard();
      toast(words.removed(type.name));
      await navigate({
        to: '/w/$workspaceId/types',
        params: { workspaceId },
        ignoreBlocker: true,
      });
      await client.invalidateQueries({ queryKey: ['device-types'] });
    },
  });
  return (
    <Dialog
      title={words.removeTitle(type.name)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
            {words.remove}
          </Button>
        </>
      }
    >
      <p>{words.removeNote}</p>
      <ActionFailure error={remove.error} />
    </Dialog>
  );
}

function Skeleton() {
  return (
    <div className={styles['skeleton']}>
      <Bone width="12em" />
      <Bone width="9em" />
    </div>
  );
}
