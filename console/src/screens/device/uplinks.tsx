// Raw uplinks of a device: payloads as they were received, each of which can be decoded again.
import { Link, useSearch } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import type { PayloadEncoding } from '../../../../src/model/device-type.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Chip, type Tone } from '../../ui/chip.tsx';
import { EncodingSelect } from '../../ui/encoding-select.tsx';
import { Answered, CodeBlock, Empty, Failure } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { OlderButton, olderRows, RowBones, useOlder } from './older-rows.tsx';
import { useDeviceFrame } from './device-frame.ts';
import { deviceRoute } from './device-search.ts';
import { logWords } from './device-words.ts';
import styles from './notes.module.css';

type RawUplink = components['schemas']['RawUplink'];

/** An uplink is received shortly before what is noted of it. */
const afterMs = 1;

export function Uplinks() {
  const words = useWords(logWords);
  const formats = useFormats();
  const { device, zone } = useDeviceFrame();
  const { at } = useSearch({ from: deviceRoute });
  const until = at === undefined ? {} : { to: new Date(Date.parse(at) + afterMs).toISOString() };
  const query = { size: olderRows, ...until };
  const uplinks = useOlder(['uplinks', device.id, at], (page, signal) =>
    ask(
      platform.GET('/v3/devices/{id}/uplinks', {
        signal,
        params: { path: { id: device.id }, query: { ...query, page } },
      }),
    ),
  );
  const total = uplinks.total ?? 0;
  const curl = { path: `/v3/devices/${device.id}/uplinks` };
  return (
    <Card
      title={words.uplinks}
      note={
        at === undefined
          ? words.uplinksCount(formats.count(total), total)
          : words.until(formats.instant(at, zone))
      }
      actions={
        at !== undefined && (
          <Link className="info underlined" to="." search={({ at: _, ...kept }) => kept}>
            {words.newest}
          </Link>
        )
      }
    >
      <Answered answer={uplinks.answer} curl={curl} skeleton={<RowBones />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={words.noUplinks} note={words.noUplinksNote} />
          ) : (
            <ul className="divided" aria-label={words.uplinks}>
              {rows.map((uplink) => (
                <UplinkRow key={uplink.id} uplink={uplink} />
              ))}
            </ul>
          )
        }
      </Answered>
      <OlderButton {...uplinks} />
    </Card>
  );
}

function UplinkRow({ uplink }: { readonly uplink: RawUplink }) {
  const formats = useFormats();
  const { zone } = useDeviceFrame();
  const [isOpen, setOpen] = useState(false);
  const { timestamp, topic, size, payload, encoding, payloadHex } = uplink;
  return (
    <li>
      <details className={styles['row']} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time className="faint num" dateTime={timestamp}>
            {formats.instant(timestamp, zone)}
          </time>
          <span className="rigid mute num">{formats.bytes(size)}</span>
          {topic !== null && <span className="rigid mute">{topic}</span>}
          <span className={`cut shrinks text-code ${styles['payload']}`}>
            {encoding === 'BYTES' && payloadHex !== null
              ? inPairs(payloadHex)
              : JSON.stringify(payload)}
          </span>
        </summary>
        {isOpen && (
          <div className={styles['more']}>
            {payloadHex !== null && payloadHex !== '' && <Bytes payloadHex={payloadHex} />}
            <CodeBlock code={JSON.stringify(uplink, null, 2)} />
            <DecodeAgain uplink={uplink} />
          </div>
        )}
      </details>
    </li>
  );
}

// Bytes in groups of two digits, 16 in a line, with what they say as text.

const lineDigits = 32;
/** More than anybody reads. */
const digitsMax = 4_096;

function inPairs(digits: string): string {
  return digits.slice(0, digitsMax).replaceAll(/..(?=.)/g, '$& ');
}

function Bytes({ payloadHex }: { readonly payloadHex: string }) {
  const words = useWords(logWords);
  const shown = payloadHex.slice(0, digitsMax);
  const lines = shown.match(new RegExp(`.{1,${lineDigits}}`, 'g')) ?? [];
  return (
    <table className={`text-code ${styles['bytes']}`}>
      <thead className="sr">
        <tr>
          <th>{words.bytes}</th>
          <th>{words.asText}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a line is its place
          <tr key={at}>
            <td>{inPairs(line)}</td>
            <td className="mute">{printable(line)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A dot stands for what is no character of ASCII. */
function printable(digits: string): string {
  return [...Uint8Array.fromHex(digits)]
    .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCodePoint(byte) : '.'))
    .join('');
}

// Decode again: one stored payload through the decoder as it is now, next to what was stored then.

type DecodedUplink = components['schemas']['RawUplink'];
type Replayed = components['schemas']['Replay']['uplinks'][number];

/** Uplinks that were received in the same millisecond. */
const uplinksMax = 100;

const tones: Readonly<Record<Replayed['verdict'], Tone>> = {
  SAME: 'ok',
  DIFFERENT: 'warn',
  ERROR: 'bad',
  UNKNOWN: 'plain',
};

function DecodeAgain({ uplink }: { readonly uplink: DecodedUplink }) {
  const words = useWords(logWords);
  const { device } = useDeviceFrame();
  const [encoding, setEncoding] = useState<PayloadEncoding | null>(null);
  const type = device.dataFlow.deviceType;
  const decoding = useAction({
    mutationFn: async (typeId: string) => {
      const body = replayOf(uplink, device.id, encoding);
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
      <div className="flow align-end wrap gap-8">
        {uplink.payloadHex !== null && (
          <EncodingSelect
            label={words.readAs}
            none={words.asReceived}
            value={encoding}
            change={setEncoding}
          />
        )}
        <Button onClick={decode} disabled={decoding.isPending}>
          <RotateCw aria-hidden="true" />
          {words.decode}
        </Button>
      </div>
      {decoding.isError && (
        <Failure
          error={decoding.error}
          retry={decode}
          curl={{ method: 'POST', path, body: replayOf(uplink, device.id, encoding) }}
        />
      )}
      {decoding.isSuccess && decoding.data === undefined && <span>{words.gone}</span>}
      {decoding.data !== undefined && <Result replayed={decoding.data} />}
    </>
  );
}

function replayOf(
  { timestamp }: DecodedUplink,
  deviceId: string,
  encoding: PayloadEncoding | null,
) {
  const to = new Date(Date.parse(timestamp) + 1).toISOString();
  const range = { deviceId, from: timestamp, to, limit: uplinksMax };
  return encoding === null ? range : { ...range, encoding };
}

function Result({ replayed }: { readonly replayed: Replayed }) {
  const words = useWords(logWords);
  const { verdict, oldSamples, newSamples, notes } = replayed;
  return (
    <>
      <p className="row wrap gap-8" role="status">
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
