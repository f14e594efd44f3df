// Commands of a device: one is sent, and those that were sent with their states.
import { ask, platform } from '../../../api/platform.ts';
import { Card, Sheet } from '../../../parts/card.tsx';
import { Chip, type Tone } from '../../../parts/chip.tsx';
import { Answered, Empty } from '../../../parts/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import type { components } from '../../../../generated/interface-types.ts';
import { olderRows, useOlder } from '../data/use-older.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { OlderButton, RowBones } from '../log/note-parts.tsx';
import { CommandForm } from './command-form.tsx';
import styles from './commands.module.css';
import { commandsWords } from './commands-words.ts';

type Downlink = components['schemas']['Downlink'];

/** A state changes within a second or two of sending. */
const refreshMs = 2_000;

export function Commands() {
  const words = useWords(commandsWords);
  const { device } = useDeviceFrame();
  const { connectivity } = device;
  const takesCommands = connectivity === 'MQTT' || connectivity === 'LORA';
  if (!takesCommands)
    return (
      <Sheet>
        <Empty title={words.notSupported(connectivity)} note={words.notSupportedNote} />
      </Sheet>
    );
  return (
    <div className={styles['columns']}>
      <CommandForm device={device} connectivity={connectivity} />
      <SentCommands deviceId={device.id} />
    </div>
  );
}

function SentCommands({ deviceId }: { readonly deviceId: string }) {
  const words = useWords(commandsWords);
  const downlinks = useOlder(
    ['downlinks', deviceId],
    (page, signal) =>
      ask(
        platform.GET('/v3/devices/{id}/downlinks', {
          signal,
          params: { path: { id: deviceId }, query: { size: olderRows, page } },
        }),
      ),
    refreshMs,
  );
  const curl = { path: `/v3/devices/${deviceId}/downlinks` };
  return (
    <Card title={words.list}>
      <Answered answer={downlinks.answer} curl={curl} skeleton={<RowBones />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={words.empty} note={words.emptyNote} />
          ) : (
            <ul className={styles['rows']} aria-label={words.list}>
              {rows.map((downlink) => (
                <Sent key={downlink.id} downlink={downlink} />
              ))}
            </ul>
          )
        }
      </Answered>
      <OlderButton {...downlinks} />
    </Card>
  );
}

const steps = ['QUEUED', 'SENT', 'ACKNOWLEDGED'] as const;
const endTones: Readonly<Record<'FAILED' | 'EXPIRED', Tone>> = { FAILED: 'bad', EXPIRED: 'warn' };

function Sent({ downlink }: { readonly downlink: Downlink }) {
  const words = useWords(commandsWords);
  const formats = useFormats();
  const { zone } = useDeviceFrame();
  const { created, state, port, topic, payloadHex, payload, error } = downlink;
  const reached = steps.findIndex((step) => step === state);
  return (
    <li className={styles['sent']}>
      <div className={styles['line']}>
        <time className="faint num" dateTime={created}>
          {formats.instant(created, zone)}
        </time>
        {state === 'FAILED' || state === 'EXPIRED' ? (
          <Chip tone={endTones[state]}>{words.states[state]}</Chip>
        ) : (
          <ol className={styles['steps']}>
            {steps.map((step, at) => (
              <li
                key={step}
                data-reached={at <= reached}
                {...(at === reached ? { 'aria-current': 'step' as const } : {})}
              >
                {words.states[step]}
              </li>
            ))}
          </ol>
        )}
      </div>
      <code className={styles['content']}>
        {[topic ?? '', port === null ? '' : `${words.port} ${port}`].filter(Boolean).join(' ')}{' '}
        {payloadHex ?? JSON.stringify(payload)}
      </code>
      {error !== null && <span className="mute">{error}</span>}
    </li>
  );
}
