// Sent effects: samples, notes and deliveries of one payload, as they appear.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Dot } from '../../parts/chip.tsx';
import { useWords } from '../../words/language.tsx';
import { outputTones } from '../outputs/delivery-state.tsx';
import { deliveriesOf } from '../outputs/output-requests.ts';
import { flowOf } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import { SampleValues } from './sample-values.tsx';
import { notesOf, type StoredSample } from './send-requests.ts';

const deliveryRows = 20;
const deliveryMs = 1_000;

interface SentEffectsProps {
  readonly workspaceId: string;
  readonly deviceId: string;
  readonly flowId: string;
  readonly correlationId: string;
  readonly samples: readonly StoredSample[];
}

export function SentEffects(props: SentEffectsProps) {
  const { deviceId, flowId, correlationId, samples } = props;
  const words = useWords(flowWords);
  const notes = useQuery(notesOf(deviceId, correlationId)).data ?? [];
  const outputs = useQuery(flowOf(flowId)).data?.outputConnectors ?? [];
  const forwarded = new Map(
    outputs.filter(({ type }) => type !== 'DATABASE').map((output) => [output.id, output.name]),
  );
  return (
    <section aria-label={words.became}>
      <h3>{words.became}</h3>
      <ul>
        {samples.map(({ topic, data }, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- samples of one payload have no other identity
          <li key={at}>
            <Dot tone="ok" />
            {words.storedAs(topic)}
            <SampleValues data={data} />
          </li>
        ))}
        {samples.length === 0 && (
          <li>
            <Dot tone="warn" />
            {words.noSample}
          </li>
        )}
        {notes.map(({ id, level, message }) => (
          <li key={id}>
            <Dot tone={level === 'ERROR' ? 'bad' : 'warn'} />
            {words.noted}: {message}
          </li>
        ))}
        {[...forwarded].map(([id, name]) => (
          <Delivered key={id} {...props} outputId={id} name={name} />
        ))}
      </ul>
    </section>
  );
}

interface DeliveredProps extends Omit<SentEffectsProps, 'samples'> {
  readonly outputId: string;
  readonly name: string;
}

function Delivered({ workspaceId, outputId, name, correlationId }: DeliveredProps) {
  const words = useWords(flowWords);
  const deliveries = useQuery({
    ...deliveriesOf(outputId, {}, deliveryRows),
    refetchInterval: deliveryMs,
  });
  const delivery = deliveries.data?.content.find((one) => one.correlationId === correlationId);
  return (
    <li>
      <Dot tone={delivery === undefined ? 'off' : outputTones[delivery.state]} />
      <Link to="/w/$workspaceId/outputs/$outputId/deliveries" params={{ workspaceId, outputId }}>
        {name}
      </Link>
      <span>
        {delivery === undefined ? words.noDelivery : words.states[delivery.state]}
        {delivery?.answer ? ` · ${delivery.answer}` : ''}
      </span>
    </li>
  );
}
