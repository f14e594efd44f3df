// Demo offer: a workspace of simulated devices, with its progress until it can be opened (contract 37).
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Sprout } from 'lucide-react';
import { ask, platform } from '../../api/platform.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Failure } from '../../parts/states.tsx';
import { overviewOf } from '../../session/first-run.ts';
import { useAccount } from '../../session/session.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';
import { useAction } from '../../parts/use-action.ts';

const progressMs = 1_000;
const request = { method: 'POST', path: '/v3/workspaces/demo' } as const;

export function DemoOffer() {
  const words = useWords(welcomeWords);
  const { organizationId } = useAccount();
  const client = useQueryClient();
  const load = useAction({
    mutationFn: () => ask(platform.POST('/v3/workspaces/demo', { body: { organizationId } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ['workspaces'] }),
  });
  return (
    <section className={styles['demo']} aria-label={words.demo}>
      <div>
        <h2>{words.demo}</h2>
        <p className="mute">{words.demoNote}</p>
      </div>
      {load.data === undefined ? (
        <Button disabled={load.isPending} onClick={() => load.mutate()}>
          <Sprout aria-hidden="true" />
          {words.loadDemo}
        </Button>
      ) : (
        <DemoProgress workspaceId={load.data.id} />
      )}
      {load.isPending && (
        <div className={styles['progress']} role="status">
          <progress aria-label={words.loadingDemo} />
          <p className="mute">{words.loadingDemo}</p>
        </div>
      )}
      {load.error !== null && (
        <Failure error={load.error} retry={() => load.mutate()} curl={request} />
      )}
    </section>
  );
}

function DemoProgress({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(welcomeWords);
  const { short, count } = useFormats();
  const overview = useQuery({ ...overviewOf(workspaceId), refetchInterval: progressMs });
  const { devices, samples } = overview.data ?? {};
  return (
    <div className={styles['progress']} role="status">
      {devices !== undefined && (
        <p>
          <b className="num">{words.demoProgress(count(devices.total), short(samples ?? 0))}</b>{' '}
          <span className="mute">{words.demoFilling}</span>
        </p>
      )}
      <ButtonLink to="/w/$workspaceId" params={{ workspaceId }} look="primary">
        {words.openDemo}
      </ButtonLink>
    </div>
  );
}
