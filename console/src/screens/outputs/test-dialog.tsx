// Test dialog: sends one message to the target now and shows what came back.
import { useState } from 'react';
import type { FoundDevice } from '../../api/devices-by-id.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Dot } from '../../ui/chip.tsx';
import { DevicePick } from '../../ui/device-pick.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CodeBlock } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { testOutput } from './output-requests.ts';
import styles from './outputs.module.css';
import { outputsWords } from './outputs-words.ts';
import { readable } from './readable.ts';
import { useAction } from '../../ui/use-action.ts';

interface TestDialogProps {
  readonly outputId: string;
  readonly workspaceId: string;
  readonly close: () => void;
}

export function TestDialog({ outputId, workspaceId, close }: TestDialogProps) {
  const words = useWords(outputsWords);
  const [device, setDevice] = useState<FoundDevice>();
  const test = useAction({ mutationFn: () => testOutput(outputId, device?.id) });
  return (
    <Dialog
      title={words.testTitle}
      close={close}
      footer={
        <Button look="primary" disabled={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? words.testing : words.test}
        </Button>
      }
    >
      <p className="mute">{words.testNote}</p>
      <DevicePick
        workspaceId={workspaceId}
        label={words.testDevice}
        chosen={device?.name ?? words.testInvented}
        choose={setDevice}
      />
      <div aria-live="polite">
        {test.data !== undefined && <Outcome outcome={test.data} />}
        <ActionFailure error={test.error} />
      </div>
    </Dialog>
  );
}

type OutcomeOf = Awaited<ReturnType<typeof testOutput>>;

function Outcome({ outcome }: { readonly outcome: OutcomeOf }) {
  const words = useWords(outputsWords);
  const { count } = useFormats();
  const { ok, answer, reason, payload, durationMs } = outcome;
  const said = ok ? words.testOk(count(durationMs)) : words.testFailed(count(durationMs));
  return (
    <div className={styles['outcome']}>
      <strong className={styles['state']}>
        <Dot tone={ok ? 'ok' : 'bad'} />
        {said}
      </strong>
      {reason !== null && <CodeBlock code={reason} />}
      <h3>{words.answer}</h3>
      {answer === null || answer === '' ? words.saidNothing : <CodeBlock code={answer} />}
      {payload !== null && (
        <>
          <h3>{words.payload}</h3>
          <CodeBlock code={readable(payload)} />
        </>
      )}
    </div>
  );
}
