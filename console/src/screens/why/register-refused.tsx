// Registration of a rejected sender: the device types that understand its payload, and devices that it may be (contract 39.3).
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Answered, Bone, CodeBlock } from '../../ui/states.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { whyWords } from './why-words.ts';

type Proposal = components['schemas']['RefusalProposal'];

interface RegisterRefusedProps {
  readonly workspaceId: string;
  readonly refusalId: string;
  /** As the sender named it. */
  readonly deviceId: string;
  readonly close: () => void;
}

/** What decodes the payload: `type ID` or `flow ID`. */
type Choice = readonly [kind: 'type' | 'flow', id: string];

export function RegisterRefused({ workspaceId, refusalId, deviceId, close }: RegisterRefusedProps) {
  const words = useWords(whyWords);
  const known = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState<string>();
  const [chosen, setChosen] = useState<string>();
  const [takes, setTakes] = useState(true);
  const path = { id: workspaceId, refusalId };
  const proposal = useQuery({
    queryKey: ['refusal proposal', refusalId],
    staleTime: 0,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/workspaces/{id}/refusals/{refusalId}/proposal', {
          signal,
          params: { path },
        }),
      ),
  });
  const choice = choiceOf(chosen) ?? firstChoice(proposal.data);
  const register = useAction({
    mutationFn: () => {
      const [kind, id] = choice ?? [];
      const body = {
        ...(kind === 'type' ? { deviceTypeId: id ?? '' } : { dataFlowId: id ?? '' }),
        name: (name ?? proposal.data?.name ?? deviceId).trim(),
        replay: takes && proposal.data?.unreadable === null,
      };
      return ask(
        platform.POST('/v3/workspaces/{id}/refusals/{refusalId}/register', {
          params: { path },
          body,
        }),
      );
    },
    onSuccess(device) {
      toast(words.registered(device.name));
      void navigate({
        to: '/w/$workspaceId/devices/$deviceId/overview',
        params: { workspaceId, deviceId: device.id },
      });
    },
    onSettled: () => known.invalidateQueries({ queryKey: ['refusals'] }),
  });
  const curl = { path: `/v3/workspaces/${workspaceId}/refusals/${refusalId}/proposal` };
  return (
    <FormDialog
      isWide
      title={words.registerTitle(deviceId.trim())}
      submitLabel={words.register}
      isBusy={register.isPending}
      isIncomplete={choice === undefined || name?.trim() === ''}
      error={register.error}
      submit={() => register.mutate()}
      close={close}
    >
      <Answered answer={proposal} curl={curl} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <Similar workspaceId={workspaceId} similar={found.similar} />
            <TextField
              label={words.name}
              value={name ?? found.name}
              maxLength={500}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Decoding
              workspaceId={workspaceId}
              choice={choice}
              proposal={found}
              choose={setChosen}
            />
            {found.unreadable === null ? (
              <CheckField label={words.takePayload} isOn={takes} change={setTakes} />
            ) : (
              <p className="mute">{words.unreadable(found.unreadable)}</p>
            )}
          </>
        )}
      </Answered>
    </FormDialog>
  );
}

function choiceOf(value: string | undefined): Choice | undefined {
  const [kind, id] = (value ?? '').split(' ');
  return (kind === 'type' || kind === 'flow') && id !== undefined ? [kind, id] : undefined;
}

/** The best type that makes a sample, else a data flow that takes the payload as it is. */
function firstChoice(proposal: Proposal | undefined): Choice | undefined {
  const best = proposal?.types.find(({ score }) => score > 0);
  if (best !== undefined) return ['type', best.deviceType.id];
  const [flow] = proposal?.dataFlows.filter(({ deviceTypeId }) => deviceTypeId === null) ?? [];
  if (flow !== undefined) return ['flow', flow.id];
  const [any] = proposal?.types ?? [];
  return any && ['type', any.deviceType.id];
}

interface DecodingProps {
  readonly workspaceId: string;
  readonly proposal: Proposal;
  readonly choice: Choice | undefined;
  readonly choose: (value: string) => void;
}

function Decoding({ workspaceId, proposal, choice, choose }: DecodingProps) {
  const { types, dataFlows, deviceId } = proposal;
  const words = useWords(whyWords);
  const { percent } = useFormats();
  const asItIs = dataFlows.filter(({ deviceTypeId }) => deviceTypeId === null);
  if (types.length + asItIs.length === 0)
    return (
      <>
        <p role="note">{words.noTypes}</p>
        <p>
          <Link
            to="/w/$workspaceId/devices/new"
            params={{ workspaceId }}
            search={{ deviceId: deviceId ?? '' }}
          >
            {words.addByHand}
          </Link>
        </p>
      </>
    );
  const [kind, id] = choice ?? [];
  const type = kind === 'type' ? types.find(({ deviceType }) => deviceType.id === id) : undefined;
  return (
    <>
      <SelectField
        label={words.decodeAs}
        value={choice?.join(' ')}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {types.map(({ deviceType, score }) => (
          <option key={deviceType.id} value={`type ${deviceType.id}`}>
            {`${deviceType.name} (${words.bestMatch(percent(score))})`}
          </option>
        ))}
        {asItIs.map((flow) => (
          <option key={flow.id} value={`flow ${flow.id}`}>
            {words.asItIs(flow.name)}
          </option>
        ))}
      </SelectField>
      {type !== undefined && type.samples.length > 0 && (
        <div>
          <h3>{words.preview}</h3>
          <CodeBlock
            code={JSON.stringify(
              type.samples.map(({ data }) => data),
              null,
              2,
            )}
          />
        </div>
      )}
      {type !== undefined && type.errors.length > 0 && (
        <div>
          <h3>{words.decoderErrors}</h3>
          <CodeBlock code={type.errors.join('\n')} />
        </div>
      )}
    </>
  );
}

interface SimilarProps {
  readonly workspaceId: string;
  readonly similar: Proposal['similar'];
}

function Similar({ workspaceId, similar }: SimilarProps) {
  const words = useWords(whyWords);
  if (similar.length === 0) return null;
  return (
    <p role="note">
      {words.didYouMean}{' '}
      {similar.map(({ id, deviceId, name }, place) => (
        <span key={id}>
          {place > 0 && ', '}
          <Link
            to="/w/$workspaceId/devices/$deviceId/overview"
            params={{ workspaceId, deviceId: id }}
            title={name}
          >
            {deviceId}
          </Link>
        </span>
      ))}
      ?
    </p>
  );
}
