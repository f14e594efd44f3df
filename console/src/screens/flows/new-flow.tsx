// New data flow: the same lanes, with the connector to choose; saving creates it.
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { CurlButton } from '../../ui/curl-button.tsx';
import { Page } from '../../ui/page.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useEditor } from '../../ui/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { bodyOf, type FlowDraft, newFlow } from './flow-draft.ts';
import { FlowFields } from './flow-fields.tsx';
import { FlowsLink } from './flow-page.tsx';
import type { Flow } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';

const route = '/signed-in/shell/w/$workspaceId/flows/new';

export function NewFlow() {
  const words = useWords(flowWords);
  const { workspaceId } = useParams({ from: route });
  const navigate = useNavigate();
  const [first] = useState(() => newFlow(words.firstName));
  const editor = useEditor<FlowDraft, Flow>({
    key: `new data flow ${workspaceId}`,
    saved: first,
    list: ['data-flows'],
    send: (draft) => ask(platform.POST('/v3/data-flows', { body: bodyOf(draft, workspaceId) })),
    savedMessage: ({ name }) => words.created(name),
    onSaved: ({ id }) =>
      navigate({
        to: '/w/$workspaceId/flows/$flowId',
        params: { workspaceId, flowId: id },
        ignoreBlocker: true,
      }),
  });
  const body = bodyOf(editor.value, workspaceId);
  return (
    <Page
      isWide
      title={words.newTitle}
      name={words.newTitle}
      path={[<FlowsLink key="flows" workspaceId={workspaceId} />, words.newTitle]}
      actions={<CurlButton request={{ method: 'POST', path: '/v3/data-flows', body }} />}
    >
      <FlowFields
        key={editor.edition}
        workspaceId={workspaceId}
        flow={undefined}
        draft={editor.value}
        change={editor.change}
        error={editor.error}
      />
      <UnsavedBar
        needs="dataFlow: create"
        editor={editor}
        createLabel={words.create}
        isBlocked={editor.value.connectorId === ''}
      />
    </Page>
  );
}
