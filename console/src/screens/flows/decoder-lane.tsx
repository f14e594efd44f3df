// Decoder lane: the device type whose script reads the payloads, or none.
import { useQuery } from '@tanstack/react-query';
import { FileCode2 } from 'lucide-react';
import { ButtonLink } from '../../parts/button.tsx';
import { CheckField } from '../../parts/check-field.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Lane } from '../../parts/lanes/lane.tsx';
import { NodeCard } from '../../parts/lanes/node-card.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import type { LaneProps } from './flow-lanes.tsx';
import { typeChoice } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import styles from './flows.module.css';

export function DecoderLane(props: LaneProps) {
  const { draft, change, open, setOpen } = props;
  const words = useWords(flowWords);
  const { organizationId } = useAccount();
  const types = useQuery(typeChoice(organizationId)).data ?? [];
  const { typeId, isPassThrough } = draft;
  const name = nameOf(props, types);
  return (
    <Lane title={words.decoded}>
      <NodeCard
        name="decoder"
        open={open}
        setOpen={setOpen}
        icon={<FileCode2 aria-hidden="true" />}
        title={name ?? words.noDecoder}
        note={name === undefined || isPassThrough ? words.asSent : words.decoder}
      >
        <SelectField
          label={words.decoder}
          value={typeId}
          onChange={(event) => change({ ...draft, typeId: event.currentTarget.value })}
        >
          <option value="">{`${words.noDecoder}: ${words.asSent}`}</option>
          {types.map((type) => (
            <option key={type.id} value={type.id}>
              {type.name}
            </option>
          ))}
        </SelectField>
        {typeId !== '' && (
          <CheckField
            label={words.passThrough}
            isOn={isPassThrough}
            change={(isOn) => change({ ...draft, isPassThrough: isOn })}
          />
        )}
        <TypeLink {...props} />
      </NodeCard>
    </Lane>
  );
}

function TypeLink({ workspaceId, draft: { typeId } }: LaneProps) {
  const words = useWords(flowWords);
  return (
    <div className={styles['links']}>
      {typeId === '' ? (
        <ButtonLink to="/w/$workspaceId/types" params={{ workspaceId }}>
          {words.newType}
        </ButtonLink>
      ) : (
        <ButtonLink to="/w/$workspaceId/types/$typeId/decoder" params={{ workspaceId, typeId }}>
          {words.openDecoder}
        </ButtonLink>
      )}
    </div>
  );
}

type Named = { readonly id: string; readonly name: string };

/** The name of the chosen type; undefined without one. */
function nameOf({ draft, flow }: LaneProps, types: readonly Named[]): string | undefined {
  if (draft.typeId === '') return undefined;
  const saved = flow?.deviceType;
  if (saved?.id === draft.typeId) return saved.name;
  return types.find(({ id }) => id === draft.typeId)?.name ?? draft.typeId;
}
