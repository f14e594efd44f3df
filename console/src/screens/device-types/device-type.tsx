// Device type: its head with what is not saved, and its tabs.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { History } from 'lucide-react';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Tabs } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { LeaveWarning, StaleNotice } from '../../ui/unsaved-bar.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { devicesOfType, deviceTypeOf, type DeviceType as Record } from './device-type-requests.ts';
import { deviceTypeWords } from './device-type-words.ts';
import styles from './device-type.module.css';
import { EditedTypeContext, useEditedType, useTypeEdits } from './edited-type.tsx';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/types/$typeId');
const tabs = ['decoder', 'encoder', 'schema', 'calculated', 'replay', 'use'] as const;

export function DeviceType() {
  const words = useWords(deviceTypeWords);
  const { workspaceId, typeId } = route.useParams();
  const answer = useQuery(deviceTypeOf(typeId));
  const path = `/v3/device-types/${typeId}`;
  return (
    <Answered
      answer={answer}
      curl={{ path }}
      skeleton={
        <Page title={<Bone width="10em" />} name={words.types} path={[words.types]} isWide>
          <Bone width="24em" />
        </Page>
      }
    >
      {(type) => <LoadedType key={typeId} workspaceId={workspaceId} type={type} />}
    </Answered>
  );
}

interface LoadedTypeProps {
  readonly workspaceId: string;
  readonly type: Record;
}

function LoadedType({ workspaceId, type }: LoadedTypeProps) {
  const words = useWords(deviceTypeWords);
  const edited = useTypeEdits(workspaceId, type);
  const list = (
    <Link to="/w/$workspaceId/types" params={{ workspaceId }}>
      {words.types}
    </Link>
  );
  return (
    <EditedTypeContext value={edited}>
      <Page
        title={type.name}
        name={type.name}
        path={[list, type.name]}
        lead={<Lead />}
        actions={<Actions />}
        isWide
      >
        <Tabs
          label={words.parts}
          tabs={tabs.map((tab) => ({
            label: words[tab],
            link: {
              to: `/w/$workspaceId/types/$typeId/${tab}`,
              params: { workspaceId, typeId: type.id },
            },
          }))}
        />
        {edited.isStale && <StaleNotice discard={edited.discard} save={edited.save} />}
        <Outlet />
        <LeaveWarning isChanged={edited.isChanged} within={`/w/${workspaceId}/types/${type.id}`} />
      </Page>
    </EditedTypeContext>
  );
}

function Lead() {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  const { type, workspaceId } = useEditedType();
  const count = useQuery(devicesOfType(workspaceId, type.id, 1)).data?.totalElements;
  return (
    <>
      {type.description !== null && <span>{type.description}</span>}
      {type.type === 'library' && <Chip>{words.library}</Chip>}
      {count !== undefined && (
        <span className="num">{words.devices(formats.count(count), count)}</span>
      )}
      {type.type === 'library' && <span className="faint">{words.libraryNote}</span>}
    </>
  );
}

function Actions() {
  const words = useWords(deviceTypeWords);
  const { type, workspaceId, isChanged, isSaving, save, discard, drafts } = useEditedType();
  const isKept = drafts.uplinkScript.isKept && drafts.downlinkScript.isKept;
  const path = `/v3/device-types/${type.id}`;
  const code = drafts.uplinkScript.code;
  const request = isChanged
    ? ({ method: 'PUT', path, body: { uplinkScript: { code } } } as const)
    : { path };
  return (
    <>
      {/* Its room is kept, so that the first edit does not move the editor. */}
      <span className={styles['unsaved']} data-shown={isChanged}>
        <span role="status" title={isKept ? words.unsavedNote : words.notKept}>
          {isChanged && <Chip tone="warn">{words.unsaved}</Chip>}
        </span>
        <Button look="ghost" disabled={!isChanged} onClick={discard}>
          {words.discard}
        </Button>
      </span>
      {isChanged && !isKept && <span className="faint">{words.notKept}</span>}
      <CurlButton request={request} />
      <ButtonLink
        to="/w/$workspaceId/types/$typeId/replay"
        params={{ workspaceId, typeId: type.id }}
      >
        <History aria-hidden="true" />
        {words.replayLink}
      </ButtonLink>
      <Button
        needs="deviceType: update"
        look="primary"
        disabled={!isChanged || isSaving}
        onClick={() => save()}
      >
        {isSaving ? words.saving : words.save}
      </Button>
    </>
  );
}
