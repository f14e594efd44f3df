// Never heard: how exactly this device sends its first reading, by its own connection.
import { useQuery } from '@tanstack/react-query';
import { ask, platform } from '../../../api/platform.ts';
import { Sheet } from '../../../parts/card.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { CodeBlock, Empty } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceWords } from '../device-words.ts';
import { firstReading } from './first-reading.ts';

export function NeverHeard() {
  const words = useWords(deviceWords);
  const { device } = useDeviceFrame();
  const { id } = device.dataFlow.deviceConnector;
  const connector = useQuery({
    queryKey: ['connector', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/device-connectors/{id}', { signal, params: { path: { id } } })),
  });
  const secret = connector.data?.uplinkSecret ?? undefined;
  const isHidden = !connector.isPending && secret === undefined;
  const command = firstReading(device, secret, location);
  return (
    <Sheet>
      <Empty
        title={words.neverHeard(device.name)}
        note={words.neverHeardNote[device.connectivity]}
        actions={
          <>
            <CodeBlock code={command} />
            <CopyButton content={command} />
            {isHidden && <p className="mute">{words.secretHidden}</p>}
          </>
        }
      />
    </Sheet>
  );
}
