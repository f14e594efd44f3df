// Used by: the data flows of a connector, each with its health.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ListBones } from '../../ui/list-table.tsx';
import { Answered, Empty } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { connectorWords } from './connectors/connector-words.ts';
import { FlowHealth } from './flow-health.tsx';
import { flowHealthOf } from './flow-requests.ts';
import styles from './flows.module.css';
import { flowsWords } from './flows-words.ts';

interface UsedByProps {
  readonly workspaceId: string;
  readonly connectorId: string;
}

/** Data flows that begin with the connector. */
export function useFlowsWith({ workspaceId, connectorId }: UsedByProps) {
  return useQuery({
    ...flowHealthOf(workspaceId),
    select: (flows) => flows.filter(({ deviceConnector }) => deviceConnector.id === connectorId),
  });
}

export function UsedBy({ workspaceId, connectorId }: UsedByProps) {
  const words = useWords(connectorWords);
  const lists = useWords(flowsWords);
  const flows = useFlowsWith({ workspaceId, connectorId });
  const path = `/v3/data-flows?workspaceId=${workspaceId}&details=health`;
  return (
    <Card title={words.usedBy} note={lists.usedByNote}>
      <Answered answer={flows} curl={{ path }} skeleton={<ListBones rows={2} />}>
        {(used) =>
          used.length === 0 ? (
            <Empty
              title={words.unused}
              note={words.unusedNote}
              actions={
                <ButtonLink to="/w/$workspaceId/flows/new" params={{ workspaceId }}>
                  {words.newFlow}
                </ButtonLink>
              }
            />
          ) : (
            <ul className={styles['users']}>
              {used.map(({ id, name, health }) => (
                <li key={id}>
                  <Link to="/w/$workspaceId/flows/$flowId" params={{ workspaceId, flowId: id }}>
                    {name}
                  </Link>
                  <FlowHealth health={health ?? null} />
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Card>
  );
}
