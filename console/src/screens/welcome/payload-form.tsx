// Payload form: JSON as it is, or a pasted payload that proposes its decoder.
import { type FormEvent, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { useSettledValue } from '../../live/use-settled-value.ts';
import { useWords } from '../../words/language.tsx';
import { firstCode } from '../device-types/first-code.ts';
import { DecoderSearch, ownCode } from './decoder-search.tsx';
import { firstPayload } from './kept-setup.ts';
import { OptionList } from './option-list.tsx';
import { type Proposal, proposalOf } from './payload-proposal.ts';
import type { Decoding } from './setup-requests.ts';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';

/** What the device sends, and how it is decoded. */
export interface Sending {
  readonly payload: object;
  readonly decoding: Decoding;
}

interface PayloadFormProps {
  readonly isBusy: boolean;
  readonly make: (sending: Sending) => void;
}

export function PayloadForm({ isBusy, make }: PayloadFormProps) {
  const words = useWords(welcomeWords);
  const [kind, setKind] = useState<'json' | 'pasted'>('json');
  const [text, setText] = useState('');
  const [port, setPort] = useState(1);
  const [typeId, setTypeId] = useState<string>(ownCode);
  const proposal = proposalOf(useSettledValue(text));
  const sending =
    kind === 'json'
      ? ({ payload: firstPayload, decoding: { kind: 'asItIs' } } as const)
      : sendingOf(proposal, port, typeId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (sending !== undefined) make(sending);
  };
  return (
    <form className={styles['form']} onSubmit={submit}>
      <OptionList
        label={words.sendStep}
        name="sends"
        value={kind}
        choose={setKind}
        options={[
          {
            value: 'json',
            title: words.sends.json,
            note: (
              <>
                {words.jsonNote} <code className="mono">{JSON.stringify(firstPayload)}</code>
              </>
            ),
          },
          { value: 'pasted', title: words.sends.pasted, note: words.pastedNote },
        ]}
      />
      {kind === 'pasted' && (
        <>
          <TextArea
            label={words.payload}
            hint={words.payloadHint}
            error={proposal.form === 'unreadable' ? words.unreadable : undefined}
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          {proposal.form === 'json' && <KeyList proposal={proposal} />}
          {proposal.form === 'bytes' && (
            <DecoderSearch
              payloadHex={proposal.payloadHex}
              port={port}
              setPort={setPort}
              chosen={typeId}
              choose={setTypeId}
            />
          )}
        </>
      )}
      <div>
        <Button type="submit" look="primary" disabled={isBusy || sending === undefined}>
          {isBusy ? words.making : words.make}
        </Button>
      </div>
    </form>
  );
}

/** Undefined while nothing readable is pasted. */
function sendingOf(proposal: Proposal, port: number, typeId: string): Sending | undefined {
  if (proposal.form === 'json')
    return { payload: proposal.data, decoding: { kind: 'declared', schema: proposal.schema } };
  if (proposal.form !== 'bytes') return undefined;
  const payload = { port, payloadHex: proposal.payloadHex };
  if (typeId !== ownCode) return { payload, decoding: { kind: 'type', typeId } };
  return { payload, decoding: { kind: 'ownCode', code: firstCode.bytes ?? '' } };
}

function KeyList({ proposal }: { readonly proposal: Extract<Proposal, { form: 'json' }> }) {
  const words = useWords(welcomeWords);
  const { keys } = proposal;
  return (
    <div className={styles['proposal']} role="status">
      <b>{words.keys(keys.length)}</b>
      <dl className={styles['keys']}>
        {keys.map(({ key, type, shown }) => (
          <div key={key}>
            <dt className="mono">{key}</dt>
            <dd>
              <span className="mute">{words.keyKinds[type]}</span>{' '}
              <code className="mono">{shown}</code>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
