// Reports dialog: the reports that mail a dashboard, to create, change, send and delete.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Plus, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { aboutQuery, ask, platform } from '../../../api/platform.ts';
import { ActionFailure } from '../../../ui/action-failure.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Chip } from '../../../ui/chip.tsx';
import { ConfirmDialog, Dialog } from '../../../ui/dialog.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import type { ShownVariables } from '../variable-values.ts';
import { type Report, ReportForm } from './report-form.tsx';
import { reportWords } from './report-words.ts';
import styles from './reports.module.css';

interface ReportsDialogProps {
  readonly dashboard: {
    readonly id: string;
    readonly name: string;
    readonly workspaceId: string;
  };
  readonly variables: ShownVariables;
  readonly zone: string;
  readonly close: () => void;
}

/** A workspace has no more. */
const reportsMax = 100;

const reportsKey = (workspaceId: string) => ['reports', workspaceId];

/** One whose dashboard is deleted is shown with every dashboard, which it can be saved for. */
function isOrphan({ active, problem }: Report): boolean {
  return !active && problem?.reason === 'DASHBOARD_DELETED';
}

export function ReportsDialog({ dashboard, variables, zone, close }: ReportsDialogProps) {
  const words = useWords(reportWords);
  const client = useQueryClient();
  const [open, setOpen] = useState<Report | 'new'>();
  const { id: dashboardId, name, workspaceId } = dashboard;
  const canSend = useQuery(aboutQuery).data?.features.mail;
  const query = { workspaceId, size: reportsMax, sort: 'name,asc' };
  const answer = useQuery({
    queryKey: reportsKey(workspaceId),
    queryFn: async ({ signal }) => {
      const { content } = await ask(platform.GET('/v3/reports', { signal, params: { query } }));
      return content.filter((report) => report.dashboardId === dashboardId || isOrphan(report));
    },
  });
  const changed = () => client.invalidateQueries({ queryKey: reportsKey(workspaceId) });
  return (
    <Dialog
      title={words.title(name)}
      isWide
      close={close}
      footer={
        <Button
          look="primary"
          needs="dashboard: create"
          disabled={canSend === false}
          onClick={() => setOpen('new')}
        >
          <Plus aria-hidden="true" />
          {words.add}
        </Button>
      }
    >
      <p className="mute">{canSend === false ? words.noMail : words.lead}</p>
      <Answered
        answer={answer}
        curl={{ path: `/v3/reports?workspaceId=${workspaceId}` }}
        skeleton={<Bone width="16em" />}
      >
        {(reports) =>
          reports.length === 0 ? (
            <p className="mute">{words.none}</p>
          ) : (
            <ul className={styles['reports']}>
              {reports.map((report) => (
                <ReportRow
                  key={report.id}
                  report={report}
                  edit={() => setOpen(report)}
                  changed={changed}
                />
              ))}
            </ul>
          )
        }
      </Answered>
      {open !== undefined && (
        <ReportForm
          dashboard={dashboard}
          report={open === 'new' ? undefined : open}
          variables={variables}
          zone={zone}
          saved={changed}
          close={() => setOpen(undefined)}
        />
      )}
    </Dialog>
  );
}

interface ReportRowProps {
  readonly report: Report;
  readonly edit: () => void;
  readonly changed: () => Promise<unknown>;
}

function ReportRow({ report, edit, changed }: ReportRowProps) {
  const words = useWords(reportWords);
  const formats = useFormats();
  const [isAsked, setAsked] = useState(false);
  const { id, name, active, nextRun, recipients, schedule, problem } = report;
  const params = { path: { id } };
  const send = useAction({
    mutationFn: () => ask(platform.POST('/v3/reports/{id}/send', { params })),
    onSuccess: ({ deliveryIds }) => toast(words.sent(deliveryIds.length)),
    onSettled: changed,
  });
  const remove = useAction({
    mutationFn: () => ask(platform.DELETE('/v3/reports/{id}', { params })),
    onSuccess() {
      toast(words.deleted);
      return changed();
    },
  });
  return (
    <li aria-label={name}>
      <div className={styles['about']}>
        <strong>{name}</strong>
        <span className="mute">
          {words.intervals[schedule.every]} · {words.recipientsCount(recipients.length)}
        </span>
        {active && nextRun !== null ? (
          <span className="mute">
            {words.next}: {formats.instant(nextRun, schedule.timeZone)} ({schedule.timeZone})
          </span>
        ) : (
          <Chip>{words.off}</Chip>
        )}
        {problem !== null && (
          <span className={styles['problem']} title={problem.message}>
            {words.problems[problem.reason]}
          </span>
        )}
        <ActionFailure error={send.error} />
      </div>
      <div className={styles['acts']}>
        <Button needs="dashboard: update" disabled={send.isPending} onClick={() => send.mutate()}>
          <Send aria-hidden="true" />
          {send.isPending ? words.sending : words.sendNow}
        </Button>
        <IconButton
          label={words.edit(name)}
          icon={Pencil}
          needs="dashboard: update"
          onClick={edit}
        />
        <IconButton
          label={`${words.remove} ${name}`}
          icon={Trash2}
          needs="dashboard: delete"
          onClick={() => setAsked(true)}
        />
      </div>
      {isAsked && (
        <ConfirmDialog
          title={words.removeTitle(name)}
          note={words.removeNote}
          confirmLabel={words.remove}
          cancelLabel={words.cancel}
          isBusy={remove.isPending}
          error={remove.error}
          confirm={() => remove.mutate()}
          close={() => setAsked(false)}
        />
      )}
    </li>
  );
}
