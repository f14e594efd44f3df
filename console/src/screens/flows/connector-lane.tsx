// Connector lane: where payloads arrive; chosen while the flow is created, fixed afterwards.
import { useQuery } from '@tanstack/react-query';
import { Plug } from 'lucide-react';
import { useState } from 'react';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Lane } from '../../parts/lanes/lane.tsx';
import { NodeCard } from '../../parts/lanes/node-card.tsx';
import { useWords } from '../../words/language.tsx';
import { kindOf } from './connectors/connector-kinds.ts';
import { connectorWords } from './connectors/connector-words.ts';
import { NewConnector } from './connectors/new-connector.tsx';
import type { LaneProps } from './flow-lanes.tsx';
import { connectorChoice } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import styles from './flows.module.css';

export function ConnectorLane(props: LaneProps) {
  const { workspaceId, draft, connector, flow, open, setOpen } = props;
  const words = useWords(flowWords);
  const kinds = useWords(connectorWords);
  const { connectorId } = draft;
  return (
    <Lane title={words.arrives}>
      <NodeCard
        name="connector"
        open={open}
        setOpen={setOpen}
        icon={<Plug aria-hidden="true" />}
        title={connector?.name ?? words.connector}
        note={connector === undefined ? words.noConnector : kindOf(connector, kinds)}
      >
        {flow === undefined ? (
          <Choice {...props} />
        ) : (
          <p className="mute">{words.connectorFixed}</p>
        )}
        {connectorId !== '' && (
          <div className={styles['links']}>
            <ButtonLink
              to="/w/$workspaceId/flows/connectors/$connectorId"
              params={{ workspaceId, connectorId }}
            >
              {words.openConnector}
            </ButtonLink>
          </div>
        )}
      </NodeCard>
    </Lane>
  );
}

function Choice({ workspaceId, draft, change }: LaneProps) {
  const words = useWords(flowWords);
  const kinds = useWords(connectorWords);
  const [isCreating, setCreating] = useState(false);
  const known = useQuery(connectorChoice(workspaceId)).data ?? [];
  const choose = (connectorId: string) => change({ ...draft, connectorId });
  return (
    <>
      <SelectField
        label={words.connector}
        value={draft.connectorId}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{words.chooseConnector}</option>
        {known.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name} · {kindOf(one, kinds)}
          </option>
        ))}
      </SelectField>
      <span>
        <Button needs="dataFlow: create" onClick={() => setCreating(true)}>
          {words.newConnector}
        </Button>
      </span>
      {isCreating && (
        <NewConnector
          workspaceId={workspaceId}
          close={() => setCreating(false)}
          onCreated={({ id }) => {
            setCreating(false);
            choose(id);
          }}
        />
      )}
    </>
  );
}
