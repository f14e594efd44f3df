// Flow lanes: devices, connector, decoder and outputs as cards in the order of a payload's way.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { LaneFrame } from '../../parts/lanes/lane-frame.tsx';
import type { OpenCard } from '../../parts/lanes/node-card.tsx';
import { useWords } from '../../words/language.tsx';
import { ConnectorLane } from './connector-lane.tsx';
import { DecoderLane } from './decoder-lane.tsx';
import { type FlowDraft, wiresOf } from './flow-draft.ts';
import { type Connector, connectorOf, type Flow } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import { OutputLane } from './output-lane.tsx';
import { SenderLane } from './sender-lane.tsx';

export interface LaneProps extends OpenCard {
  readonly workspaceId: string;
  readonly draft: FlowDraft;
  readonly change: (draft: FlowDraft) => void;
  /** As it is saved; none while it is not created. */
  readonly flow: Flow | undefined;
  /** The chosen connector, once it is read. */
  readonly connector: Connector | undefined;
}

export function FlowLanes(props: Omit<LaneProps, keyof OpenCard | 'connector'>) {
  const words = useWords(flowWords);
  const [open, setOpen] = useState<string>();
  const { connectorId } = props.draft;
  const read = useQuery({ ...connectorOf(connectorId), enabled: connectorId !== '' });
  const connector = connectorId === '' ? undefined : read.data;
  const lane = { ...props, connector, open, setOpen };
  return (
    <LaneFrame label={words.lanes} wires={wiresOf(props.draft)}>
      <SenderLane {...lane} />
      <ConnectorLane {...lane} />
      <DecoderLane {...lane} />
      <OutputLane {...lane} />
    </LaneFrame>
  );
}
