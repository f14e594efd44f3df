// Details of an activity: its records with links, values before and after, and its request id.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Bone, Failure } from '../../parts/states.tsx';
import { useAccount } from '../../session/session.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { ChangeList } from '../organization/audit/change-list.tsx';
import { type Activity, entriesOf } from './activity-requests.ts';
import styles from './activity.module.css';
import { activityWords } from './activity-words.ts';

type ChangedRecord = Activity['records'][number];

export function ActivityDetails({ activity }: { readonly activity: Activity }) {
  const words = useWords(activityWords);
  const { count } = useFormats();
  const { records, total, requestId } = activity;
  const entries = useEntries(activity);
  const changesOf = ({ resourceId, action }: ChangedRecord) =>
    entries.data?.find((entry) => entry.resourceId === resourceId && entry.action === action)
      ?.changes;
  return (
    <div className={styles['details']}>
      <ul>
        {records.map((record) => (
          <li key={`${record.action} ${record.resourceId}`}>
            <RecordName record={record} workspaceId={activity.workspaceId} />
            {entries.isPending && entries.isAsked && <Bone />}
            <ChangeList changes={changesOf(record) ?? []} />
          </li>
        ))}
      </ul>
      {total > records.length && (
        <p className="faint">{words.first(count(records.length), count(total))}</p>
      )}
      {entries.error !== null && <Failure error={entries.error} />}
      {!entries.isAsked && <p className="faint">{words.noValues}</p>}
      <p className={styles['request']}>
        {requestId !== null && (
          <>
            <span className="mute">{words.request}</span>
            <span className="mono">{requestId}</span>
            <CopyButton content={requestId} label={words.copyRequest} />
          </>
        )}
        <CopyButton content={location.href}>{words.copyLink}</CopyButton>
      </p>
    </div>
  );
}

/** The audit log has values, and only owners and admins may read it. */
function useEntries(activity: Activity) {
  const { organizationId, role } = useAccount();
  const isAsked = role === 'OWNER' || role === 'ADMIN';
  const { data, error, isPending } = useQuery({
    ...entriesOf(organizationId, activity),
    enabled: isAsked,
  });
  return { data, error, isPending, isAsked };
}

interface RecordNameProps {
  readonly record: ChangedRecord;
  readonly workspaceId: string;
}

function RecordName({ record, workspaceId }: RecordNameProps) {
  const words = useWords(activityWords);
  const { action, resourceType, resourceId: id, resourceName } = record;
  const name = resourceName ?? id;
  return (
    <span>
      <span className="mute">
        {words.did[action]} {words.records(resourceType, '', 1)}
      </span>{' '}
      {action === 'DELETE' ? (
        <b>{name}</b>
      ) : (
        <RecordLink {...{ resourceType, id, name, workspaceId }} />
      )}
    </span>
  );
}

interface RecordLinkProps {
  readonly resourceType: string;
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
}

/** Leads to the page of the record, where its kind has one. */
function RecordLink({ resourceType, id, name, workspaceId }: RecordLinkProps) {
  switch (resourceType) {
    case 'DEVICE':
      return (
        <Link to="/w/$workspaceId/devices/$deviceId" params={{ workspaceId, deviceId: id }}>
          {name}
        </Link>
      );
    case 'RULE':
      return (
        <Link to="/w/$workspaceId/rules/$ruleId/edit" params={{ workspaceId, ruleId: id }}>
          {name}
        </Link>
      );
    case 'OUTPUT_CONNECTOR':
      return (
        <Link
          to="/w/$workspaceId/outputs/$outputId/settings"
          params={{ workspaceId, outputId: id }}
        >
          {name}
        </Link>
      );
    case 'ALARM':
      return (
        <Link to="/w/$workspaceId/alarms/$alarmId" params={{ workspaceId, alarmId: id }}>
          {name}
        </Link>
      );
    default:
      return <b>{name}</b>;
  }
}
