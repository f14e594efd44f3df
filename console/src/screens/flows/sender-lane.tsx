// Sender lane: the devices of the flow, and the network server that speaks for them.
import { useQuery } from '@tanstack/react-query';
import { Cpu, RadioTower } from 'lucide-react';
import { ButtonLink } from '../../parts/button.tsx';
import { Lane } from '../../parts/lanes/lane.tsx';
import { NodeCard } from '../../parts/lanes/node-card.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { encodeFilter } from '../devices/device-search.ts';
import type { LaneProps } from './flow-lanes.tsx';
import { devicesOf, inFlows, integrationOf } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import styles from './flows.module.css';
import { serverNames } from './server-names.ts';

export function SenderLane(props: LaneProps) {
  const words = useWords(flowWords);
  const integrationId = props.connector?.integrationId ?? null;
  return (
    <Lane title={words.sends}>
      <DevicesCard {...props} />
      {integrationId !== null && <ServerCard {...props} integrationId={integrationId} />}
    </Lane>
  );
}

function DevicesCard({ workspaceId, flow, open, setOpen }: LaneProps) {
  const words = useWords(flowWords);
  const { count } = useFormats();
  const ids = flow === undefined ? [] : [flow.id];
  const total = useQuery(devicesOf(workspaceId, ids, 1)).data?.totalElements ?? 0;
  const filter = encodeFilter(inFlows(ids));
  return (
    <NodeCard
      name="devices"
      open={open}
      setOpen={setOpen}
      icon={<Cpu aria-hidden="true" />}
      title={words.devices}
      note={total === 0 ? words.noDevices : words.deviceCount(count(total), total)}
    >
      <div className={styles['links']}>
        {flow !== undefined && (
          <ButtonLink to="/w/$workspaceId/devices" params={{ workspaceId }} search={{ filter }}>
            {words.showDevices}
          </ButtonLink>
        )}
        <ButtonLink to="/w/$workspaceId/devices/new" params={{ workspaceId }}>
          {words.register}
        </ButtonLink>
      </div>
    </NodeCard>
  );
}

function ServerCard(props: LaneProps & { readonly integrationId: string }) {
  const { workspaceId, integrationId, open, setOpen } = props;
  const words = useWords(flowWords);
  const integration = useQuery(integrationOf(integrationId)).data;
  return (
    <NodeCard
      name="server"
      open={open}
      setOpen={setOpen}
      icon={<RadioTower aria-hidden="true" />}
      title={integration?.name ?? integrationId}
      note={integration === undefined ? words.server : serverNames[integration.type]}
    >
      <div className={styles['links']}>
        <ButtonLink
          to="/w/$workspaceId/flows/integrations/$integrationId"
          params={{ workspaceId, integrationId }}
        >
          {words.openIntegration}
        </ButtonLink>
      </div>
    </NodeCard>
  );
}
