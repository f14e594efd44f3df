// Output frame: title, tabs and actions around the pages of one output.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Tabs } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/curl-button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Page } from '../../ui/page.tsx';
import { Answered, Bone, Empty } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { outputOf } from './output-requests.ts';
import { targetOf } from './output-target.ts';
import type { OutputConnector } from './output-types.ts';
import { outputsWords } from './outputs-words.ts';
import { TestDialog } from './test-dialog.tsx';
import { typeNameOf, typeWords } from './type-words.ts';

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
