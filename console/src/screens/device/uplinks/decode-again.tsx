// Decode again: one stored payload through the decoder as it is now, next to what was stored then.
import { RotateCw } from 'lucide-react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../ui/button.tsx';
import { Chip, type Tone } from '../../../ui/chip.tsx';
import { CodeBlock, Failure } from '../../../ui/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { useDeviceFrame } from '../device-frame.ts';
import { logWords } from '../log/log-words.ts';
import styles from '../log/notes.module.css';
import { useAction } from '../../../ui/use-action.ts';

type RawUplink = components['schemas']['RawUplink'];
type Replayed = components['schemas']['Replay']['uplinks'][number];

/** Uplinks that were received in the same millisecond. */
const uplinksMax = 100;

const tones: Readonly<Record<Replayed['verdict'], Tone>> = {
  SAME: 'ok',
  DIFFERENT: 'warn',
  ERROR: 'bad',
  UNKNOWN: 'plain',
};

export function DecodeAgain({ uplink }: { readonly uplink: RawUplink }) {
  const words = useWords(logWords);
  const { device } = useDeviceFrame();
  const type = device.dataFlow.deviceType;
  const decoding = useAction({
    mutationFn: async (typeId: string) => {
      const body = replayOf(uplink, device.id);
      const params = { path: { id: typeId } };
      const { uplinks } = await ask(
        platform.POST('/v3/device-types/{id}/replay', { params, body }),
      );
      return uplinks.find(({ id }) => id === uplink.id);
    },
  });
  if (type === null) return <span className="mute">{words.passThrough}</span>;
  const path = `/v3/device-types/${type.id}/replay`;
  const decode = () => decoding.mutate(type.id);
  return (
    <>
      <Button onClick={decode} disabled={decoding.isPending}>
        <RotateCw aria-hidden="true" />
        {words.decode}
      </Button>
      {decoding.isError && (
        <Failure
          error={decoding.error}
          retry={decode}
          curl={{ method: 'POST', path, body: replayOf(uplink, device.id) }}
        />
      )}
      {decoding.isSuccess && decoding.data === undefined && <span>{words.gone}</span>}
      {decoding.data !== undefined && <Result replayed={decoding.data} />}
    </>
  );
}

function replayOf({ timestamp }: RawUplink, deviceId: string) {
  const to = new Date(Date.parse(timestamp) + 1).toISOString();
  return { deviceId, from: timestamp, to, limit: uplinksMax };
}

function Result({ replayed }: { readonly replayed: Replayed }) {
  const words = useWords(logWords);
  const { verdict, oldSamples, newSamples, notes } = replayed;
  return (
    <>
      <p className={styles['verdict']} role="status">
        <Chip tone={tones[verdict]}>{words.verdicts[verdict]}</Chip>
        <span className="mute">{words.decoded}</span>
      </p>
      {notes.map(({ level, message }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- notes have no other identity
        <span key={at}>
          {level}: {message}
        </span>
      ))}
      <div className={styles['pair']}>
        {verdict !== 'SAME' && oldSamples !== null && (
          <Samples name={words.stored} samples={oldSamples} />
        )}
        <Samples name={words.now} samples={newSamples} />
      </div>
    </>
  );
}

function Samples({
  name,
  samples,
}: {
  readonly name: string;
  readonly samples: readonly object[];
}) {
  const words = useWords(logWords);
  const [first] = samples;
  return (
    <div>
      <h3>{name}</h3>
      {first === undefined ? (
        <span className="mute">{words.nothing}</span>
      ) : (
        <CodeBlock code={JSON.stringify(samples.length === 1 ? first : samples, null, 2)} />
      )}
    </div>
  );
}
