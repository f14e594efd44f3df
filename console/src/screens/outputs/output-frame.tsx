// Output frame: title, tabs and actions around the pages of one output.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { FoundDevice } from '../../api/workspace-records.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Dot } from '../../ui/chip.tsx';
import { Tabs } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { DevicePick } from '../../ui/device-pick.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { Answered, Bone, CodeBlock, Empty } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { outputOf, readable, testOutput } from './output-requests.ts';
import { type OutputConnector, targetOf } from './output-types.ts';
import { outputsWords, typeNameOf, typeWords } from './outputs-words.ts';

interface FrameProps {
  readonly workspaceId: string;
  readonly outputId: string;
  readonly actions?: ReactNode;
  /** Path of the request behind the page, below the output's own. */
  readonly request?: string;
  readonly children: (output: OutputConnector) => ReactNode;
}

export function OutputFrame({
  workspaceId,
  outputId,
  actions,
  request = '',
  children,
}: FrameProps) {
  const words = useWords(outputsWords);
  const output = useQuery(outputOf(outputId));
  const [isTesting, setTesting] = useState(false);
  // A test sends.
  const path = `/v3/output-connectors/${outputId}`;
  const isBuiltIn = output.data?.global === true;
  const name = output.data?.name ?? words.title;
  const back = (
    <Link to="/w/$workspaceId/outputs" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  return (
    <Page
      title={output.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[back, name]}
      lead={output.data === undefined ? <Bone /> : <Lead output={output.data} />}
      actions={
        !isBuiltIn && (
          <>
            <CurlButton request={{ path: `${path}${request}` }} />
            <Button needs="dataFlow: update" onClick={() => setTesting(true)}>
              <Send aria-hidden="true" />
              {words.test}
            </Button>
            {actions}
          </>
        )
      }
    >
      {!isBuiltIn && <OutputTabs workspaceId={workspaceId} outputId={outputId} />}
      <Answered answer={output} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) =>
          isBuiltIn ? (
            <Sheet>
              <Empty title={words.builtInTitle} note={words.builtIn} />
            </Sheet>
          ) : (
            children(found)
          )
        }
      </Answered>
      {isTesting && (
        <TestDialog outputId={outputId} workspaceId={workspaceId} close={() => setTesting(false)} />
      )}
    </Page>
  );
}

function Lead({ output }: { readonly output: OutputConnector }) {
  const words = useWords(outputsWords);
  const types = useWords(typeWords);
  const target = targetOf(output);
  return (
    <>
      {typeNameOf(types, output.type)}
      <span className={target === '' ? 'faint' : 'mono'}>
        {target || (output.global ? words.own : words.secretTarget)}
      </span>
      <span className="faint">
        {words.used.toLowerCase()} {words.scopeOf[output.scope]}
      </span>
    </>
  );
}

function OutputTabs({ workspaceId, outputId }: { workspaceId: string; outputId: string }) {
  const words = useWords(outputsWords);
  const params = { workspaceId, outputId };
  return (
    <Tabs
      label={words.tabs}
      tabs={[
        {
          label: words.deliveries,
          link: { to: '/w/$workspaceId/outputs/$outputId/deliveries', params },
        },
        {
          label: words.settings,
          link: { to: '/w/$workspaceId/outputs/$outputId/settings', params },
        },
      ]}
    />
  );
}

// Test dialog: sends one message to the target now and shows what came back.

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
    <div className="stack gap-12">
      <strong className="row inline wrap gap-8">
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
