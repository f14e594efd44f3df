// Flow page: one data flow as the way of a payload, edited in place, with what arrives through it.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { CurlButton } from '../../parts/curl-button.tsx';
import { Page } from '../../parts/page.tsx';
import { RemoveRecord } from '../../parts/remove-record.tsx';
import { Answered, Bone } from '../../parts/states.tsx';
import { UnsavedBar } from '../../parts/unsaved-bar.tsx';
import { useEditor } from '../../parts/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { FlowDevices } from './flow-devices.tsx';
import { changeOf, draftOf, type FlowDraft } from './flow-draft.ts';
import { FlowFields } from './flow-fields.tsx';
import { FlowHealth } from './flow-health.tsx';
import { type Flow, flowHealthOf, flowOf } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import { flowsWords } from './flows-words.ts';
import { SendDialog } from './send-dialog.tsx';

const route = '/signed-in/shell/w/$workspaceId/flows/$flowId';

export function FlowPage() {
  const lists = useWords(flowsWords);
  const words = useWords(flowWords);
  const { workspaceId, flowId } = useParams({ from: route });
  const flow = useQuery(flowOf(flowId));
  const [isSending, setSending] = useState(false);
  const path = `/v3/data-flows/${flowId}`;
  const name = flow.data?.name ?? lists.flow;
  return (
    <Page
      isWide
      title={flow.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[<FlowsLink key="flows" workspaceId={workspaceId} />, name]}
      lead={flow.data === undefined ? <Bone /> : <Lead workspaceId={workspaceId} flowId={flowId} />}
      actions={
        <>
          <CurlButton request={{ path }} />
          <Button disabled={flow.data === undefined} onClick={() => setSending(true)}>
            <Send aria-hidden="true" />
            {words.send}
          </Button>
        </>
      }
    >
      <Answered answer={flow} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <FlowEditor key={found.id} flow={found} />
            <FlowDevices workspaceId={workspaceId} flowId={flowId} />
            {isSending && (
              <SendDialog
                workspaceId={workspaceId}
                connector={found.deviceConnector}
                flowIds={[flowId]}
                close={() => setSending(false)}
              />
            )}
          </>
        )}
      </Answered>
    </Page>
  );
}

export function FlowsLink({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(flowsWords);
  return (
    <Link to="/w/$workspaceId/flows" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
}

function Lead({ workspaceId, flowId }: { readonly workspaceId: string; readonly flowId: string }) {
  const flow = useQuery(flowHealthOf(workspaceId)).data?.find(({ id }) => id === flowId);
  return flow === undefined ? <Bone /> : <FlowHealth health={flow.health ?? null} />;
}

function FlowEditor({ flow }: { readonly flow: Flow }) {
  const words = useWords(flowWords);
  const { id, version, workspaceId } = flow;
  const editor = useEditor<FlowDraft, Flow>({
    key: `data flow ${id}`,
    saved: draftOf(flow),
    version,
    record: flowOf(id).queryKey,
    list: ['data-flows'],
    send: (draft, from) => {
      const body = { ...changeOf(draft), ...from };
      return ask(platform.PUT('/v3/data-flows/{id}', { params: { path: { id } }, body }));
    },
  });
  return (
    <>
      <FlowFields
        key={editor.edition}
        workspaceId={workspaceId}
        flow={flow}
        draft={editor.value}
        change={editor.change}
        error={editor.error}
      />
      <UnsavedBar needs="dataFlow: update" editor={editor} within={`/w/${workspaceId}/flows/${id}`}>
        <RemoveRecord
          needs="dataFlow: delete"
          name={flow.name}
          note={words.removeNote}
          send={() => ask(platform.DELETE('/v3/data-flows/{id}', { params: { path: { id } } }))}
          discard={editor.discard}
          lists={[['data-flows']]}
          next={{ to: '/w/$workspaceId/flows', params: { workspaceId } }}
        />
      </UnsavedBar>
    </>
  );
}
