// Welcome: from nothing to the first reading of a device in four steps, or to a workspace of the demo.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { Bone, Empty, Failure } from '../../parts/states.tsx';
import { skipWelcome } from '../../session/first-run.ts';
import { useWorkspaceId } from '../../session/last-workspace.ts';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { useSampleFeed } from '../device/data/use-sample-feed.ts';
import { DemoOffer } from './demo-offer.tsx';
import { keptSetup } from './kept-setup.ts';
import { Idle, Listening } from './listening.tsx';
import { MadeList } from './made-list.tsx';
import { SetupSteps } from './setup-steps.tsx';
import { SendStep } from './send-step.tsx';
import { useFirstDevice } from './use-first-device.ts';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';

export function Welcome() {
  const words = useWords(welcomeWords);
  const workspaceId = useWorkspaceId();
  const { device } = useSearch({ from: '/signed-in/shell/welcome' });
  const { permissions } = useAccount();
  const mayDo = (scope: string) => permissions[workspaceId]?.[scope]?.includes('create') === true;
  const skip = (
    <Link
      className={styles['skip']}
      to="/w/$workspaceId"
      params={{ workspaceId }}
      onClick={() => skipWelcome(workspaceId)}
    >
      {words.skip}
    </Link>
  );
  return (
    <Page
      title={words.title}
      lead={words.lead}
      name={words.page}
      path={[words.page]}
      actions={skip}
    >
      {mayDo('asset') && mayDo('dataFlow') ? (
        <div className={styles['columns']}>
          {device === undefined ? (
            <Beginning workspaceId={workspaceId} />
          ) : (
            <WithDevice key={device} deviceId={device} />
          )}
        </div>
      ) : (
        <Empty title={words.forbidden} note={words.forbiddenNote} />
      )}
    </Page>
  );
}

function Beginning({ workspaceId }: { readonly workspaceId: string }) {
  const navigate = useNavigate({ from: '/welcome' });
  return (
    <>
      <SetupSteps
        workspaceId={workspaceId}
        onMade={(device) => void navigate({ search: (kept) => ({ ...kept, device }) })}
      />
      <div className={styles['side']}>
        <Idle />
        <DemoOffer />
      </div>
    </>
  );
}

function WithDevice({ deviceId }: { readonly deviceId: string }) {
  const { device, error, retry } = useFirstDevice(deviceId);
  const feed = useSampleFeed(deviceId);
  const { made, payload } = keptSetup(deviceId);
  if (error !== null && device === undefined)
    return <Failure error={error} retry={retry} curl={{ path: `/v3/devices/${deviceId}` }} />;
  if (device === undefined) return <Bone width="24em" />;
  return (
    <>
      <div className={styles['stack']}>
        <SendStep device={device} payload={payload} hasArrived={feed.rows.length > 0} />
      </div>
      <div className={styles['side']}>
        <Listening device={device} payload={payload} feed={feed} />
      </div>
      <MadeList made={made} />
    </>
  );
}
