// Script tab: the code at the left, its trial at the right; for the decoder and for the encoder.
import { useEffect, useMemo, useRef, useState } from 'react';
import { Card } from '../../parts/card.tsx';
import { useWords } from '../../words/language.tsx';
import { CodeEditor } from './code-editor.tsx';
import { completionsOf } from './completions.ts';
import styles from './device-type.module.css';
import { deviceTypeWords } from './device-type-words.ts';
import { useEditedType } from './edited-type.tsx';
import { readPayload, type ScriptPart } from './payload.ts';
import { declaredKeys } from './schema-keys.ts';
import { problemOf } from './script-run.ts';
import { TrialCard, useFirstPayload } from './trial-card.tsx';
import { useTrials } from './use-trials.ts';

export function DecoderTab() {
  return <ScriptTab key="decoder" part="uplinkScript" />;
}

export function EncoderTab() {
  return <ScriptTab key="encoder" part="downlinkScript" />;
}

function ScriptTab({ part }: { readonly part: ScriptPart }) {
  const words = useWords(deviceTypeWords);
  const { type, drafts, save } = useEditedType();
  const draft = drafts[part];
  const [typed, setPayload] = useState<string>();
  const first = useFirstPayload(part);
  const payload = typed ?? first;
  const [port, setPort] = useState(1);
  const [timestamp] = useState(() => new Date().toISOString());
  const read = useMemo(
    () => readPayload(payload, { part, port, timestamp }),
    [payload, part, port, timestamp],
  );
  const trials = useTrials(type.sampleData, part);
  // The newest code, also when a key of the editor is faster than the next render.
  const code = useRef(draft.code);
  useEffect(() => {
    code.current = draft.code;
  }, [draft.code]);
  const run = () => trials.start(code.current, 'event' in read ? read.event : undefined);
  const { schemas } = type;
  const completions = useMemo(() => completionsOf(part, declaredKeys(schemas)), [part, schemas]);
  const problem = useMemo(
    () => (trials.run === undefined ? undefined : problemOf(trials.run)),
    [trials.run],
  );
  const title = part === 'uplinkScript' ? words.decoder : words.encoder;
  return (
    <div className={styles['split']}>
      <Card
        title={title}
        note={part === 'uplinkScript' ? words.decoderNote : words.encoderNote}
        actions={<span className={styles['hint']}>{words.editorHint}</span>}
      >
        <CodeEditor
          key={draft.revision}
          label={title}
          initialCode={draft.code}
          problem={problem}
          completions={completions}
          run={run}
          save={save}
          change={(next) => {
            code.current = next;
            draft.change(next);
          }}
        />
      </Card>
      <TrialCard
        part={part}
        box={{ payload, setPayload, port, setPort, read }}
        trials={trials}
        run={run}
      />
    </div>
  );
}
