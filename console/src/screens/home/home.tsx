// Home: what is true now in a sentence, the figures, what arrives, and what needs attention.
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ButtonLink } from '../../ui/button.tsx';
import { late } from '../../ui/late.tsx';
import { LateTimeMachineButton, withMoment } from '../../ui/late-time-machine.ts';
import { Page } from '../../ui/page.tsx';
import { Spark } from '../../ui/spark.tsx';
import { Bone, Failure } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import type { OutputItem } from '../outputs/output-requests.ts';
import { Arriving } from './arriving.tsx';
import { Figure } from './figure.tsx';
import { homeWords } from './home-words.ts';
import styles from './home.module.css';
import {
  openAlarms,
  type Overview,
  useFailingOutputs,
  useOverview,
  useRefusals,
} from './overview.ts';

// Shown with the figures, so asked for beside them.
const load = import('./needs.tsx');
const Needs = late('Needs', async () => (await load).Needs);

const HomeThen = late('HomeThen', async () => (await import('./home-then.tsx')).HomeThen);
const route = '/signed-in/shell/w/$workspaceId/';

export function Home() {
  const { workspaceId } = useParams({ from: route });
  const { at } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/w/$workspaceId/' });
  const show = (moment: string | undefined) =>
    void navigate({ search: withMoment({}, moment), replace: true });
  if (at !== undefined)
    return <HomeThen key={workspaceId} workspaceId={workspaceId} at={at} show={show} />;
  return <HomeNow workspaceId={workspaceId} showMoment={show} />;
}

interface HomeNowProps {
  readonly workspaceId: string;
  readonly showMoment: (at: string) => void;
}

function HomeNow({ workspaceId, showMoment }: HomeNowProps) {
  const words = useWords(homeWords);
  const { data, error, refetch } = useOverview(workspaceId);
  const failing = useFailingOutputs(workspaceId, data);
  const hasRefusals = useRefusals(workspaceId).length > 0;
  const curl = { path: `/v3/workspaces/${workspaceId}/overview` };
  if (data === undefined && error !== null)
    return (
      <Page title={words.title} name={words.title} path={[words.title]}>
        <Failure error={error} retry={() => void refetch()} curl={curl} />
      </Page>
    );
  return (
    <Page
      title={
        data === undefined ? <Bone width="12em" /> : sentence(data, { failing, hasRefusals }, words)
      }
      name={words.title}
      path={[words.title]}
      lead={data && words.heard(data.devices.online, data.devices.total)}
      actions={
        <>
          {data?.devices.total === 0 && (
            <ButtonLink to="/welcome" search={{}}>
              {words.firstReading}
            </ButtonLink>
          )}
          {(data?.devices.total ?? 0) > 0 && <LateTimeMachineButton show={showMoment} />}
          <ButtonLink to="/w/$workspaceId/devices/new" params={{ workspaceId }} look="primary">
            <Plus aria-hidden="true" />
            {words.register}
          </ButtonLink>
        </>
      }
    >
      <Figures overview={data} />
      <div className={`columns align-start gap-16 ${styles['columns']}`}>
        <Arriving key={workspaceId} workspaceId={workspaceId} />
        {data !== undefined && (
          <Needs overview={data} failing={failing} workspaceId={workspaceId} />
        )}
      </div>
    </Page>
  );
}

/** The worst of what is true now; all is quiet only when nothing needs attention. */
function sentence(
  overview: Overview,
  { failing, hasRefusals }: { failing: readonly OutputItem[]; hasRefusals: boolean },
  words: (typeof homeWords)['en'],
): string {
  const { devices, deliveries, scriptErrors } = overview;
  const open = openAlarms(overview);
  const [output] = failing;
  if (devices.total === 0) return words.empty;
  if (open > 0) return words.openAlarms(open);
  if (output !== undefined) return words.failingOutputs(failing.length, output.name);
  if (devices.offline > 0) return words.silentDevices(devices.offline);
  if (deliveries.failed > 0) return words.failedDeliveries(deliveries.failed);
  if (hasRefusals) return words.refusedUplinks;
  return scriptErrors > 0 ? words.failedScripts(scriptErrors) : words.quiet;
}

// Figures of the home page: what is alive, what arrives, what is kept and what failed.

function Figures({ overview }: { readonly overview: Overview | undefined }) {
  const words = useWords(homeWords);
  const formats = useFormats();
  const { devices, samplesPerMinute, samples, bytes, deliveries } = overview ?? {};
  return (
    <dl className={styles['figures']}>
      <Figure
        label={words.alive}
        tone={(devices?.offline ?? 0) > 0 ? 'warn' : 'ok'}
        value={devices && formats.count(devices.online)}
        note={devices && words.of(formats.count(devices.total))}
      />
      <Figure
        label={words.rate}
        tone="live"
        // The current minute is not over.
        value={samplesPerMinute && formats.count(samplesPerMinute.at(-2) ?? 0)}
        line={samplesPerMinute && <Spark points={samplesPerMinute.slice(0, -1)} />}
      />
      <Figure
        label={words.kept}
        value={samples === undefined ? undefined : formats.short(samples)}
        note={bytes === undefined ? undefined : words.inBytes(formats.bytes(bytes))}
      />
      <Figure
        label={words.failing}
        value={deliveries && formats.count(deliveries.failed)}
        note={
          deliveries && deliveries.waiting > 0
            ? words.waiting(formats.count(deliveries.waiting))
            : words.inDay
        }
      />
    </dl>
  );
}
