// Own dashboard: that of a device or a place on its page, with this record as the value of its variable (contract 39).
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import {
  type Configuration,
  readConfiguration,
  type Variable,
} from '../../../../src/dashboards/configuration.ts';
import { variablesOf } from '../../../../src/dashboards/variables.ts';
import type { components } from '../../../generated/interface-types.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Empty } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { DashboardFrame } from './dashboard-frame.tsx';
import { createDashboard, type NewDashboard, refreshLists } from './dashboard-requests.ts';
import type { DashboardSearch } from './dashboard-search.ts';
import { TileGrid } from './grid/tile-grid.tsx';
import { ownDashboardWords } from './own-dashboard-words.ts';
import { useVariables } from './variable-values.ts';

type ShownDashboard = components['schemas']['ShownDashboard'];

interface OwnDashboardProps {
  readonly shown: ShownDashboard;
  readonly workspaceId: string;
  /** The record whose page it is. */
  readonly of: { readonly kind: 'DEVICE' | 'PLACE'; readonly id: string };
  readonly search: DashboardSearch;
  readonly zone: string;
  readonly show: (range: Pick<DashboardSearch, 'from' | 'to'>) => void;
  /** Where the tiles come from. */
  readonly source: string;
  /** What is stored for all alike; undefined where there is nothing that they have in common. */
  readonly draft: Omit<NewDashboard, 'workspaceId' | 'configuration'> | undefined;
  /** What storing it does, or why it cannot be. */
  readonly customizeNote: string | undefined;
  /** The range of the tiles. */
  readonly tools: (configuration: Configuration) => ReactNode;
}

export function OwnDashboard(props: OwnDashboardProps) {
  const { shown, workspaceId, of, search, zone, show, tools } = props;
  const words = useWords(ownDashboardWords);
  const configuration = useMemo(
    () => readConfiguration(shown.configuration),
    [shown.configuration],
  );
  const own = configuration && ownVariable(variablesOf(configuration), of.kind);
  const values = own === undefined ? {} : { var: { [own.name]: [of.id] } };
  const dashboardId = shown.dashboard?.id ?? `${of.kind} ${of.id}`;
  const withOwn = { ...search, ...values };
  const variables = useVariables(dashboardId, workspaceId, configuration ?? {}, withOwn);
  if (configuration === undefined)
    return (
      <Sheet>
        <Empty title={words.foreign} note={words.foreignNote} />
      </Sheet>
    );
  return (
    <>
      <div className="row wrap justify-between gap-12">
        <Source {...props} configuration={configuration} values={values} />
        <div className="row wrap gap-8">{tools(configuration)}</div>
      </div>
      <DashboardFrame
        workspaceId={workspaceId}
        dashboardId={dashboardId}
        configuration={configuration}
        variables={variables}
        search={withOwn}
        zone={zone}
        show={show}
      >
        <TileGrid />
      </DashboardFrame>
    </>
  );
}

/** The variable that the record of the page is the value of. */
function ownVariable(variables: readonly Variable[], kind: Variable['kind']): Variable | undefined {
  const alike = variables.filter((one) => one.kind === kind);
  return alike.find(({ name }) => name === kind.toLowerCase()) ?? alike[0];
}

interface SourceProps extends OwnDashboardProps {
  readonly configuration: Configuration;
  readonly values: Pick<DashboardSearch, 'var'>;
}

/** Where the tiles come from, and how to change them. */
function Source(props: SourceProps) {
  const { shown, workspaceId, source, draft, customizeNote, configuration, values } = props;
  const words = useWords(ownDashboardWords);
  const navigate = useNavigate();
  const customize = useAction({
    mutationFn: (fields: NonNullable<typeof draft>) =>
      createDashboard({ ...fields, workspaceId, configuration }),
    onSuccess: (dashboard) => {
      void refreshLists();
      void navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId, dashboardId: dashboard.id },
        search: { ...values, edit: true },
      });
    },
  });
  if (shown.dashboard !== null)
    return (
      <div className="row wrap gap-12">
        <span className="mute">{source}</span>
        <ButtonLink
          to="/w/$workspaceId/dashboards/$dashboardId"
          params={{ workspaceId, dashboardId: shown.dashboard.id }}
          search={{ ...values, edit: true }}
        >
          {words.edit}
        </ButtonLink>
      </div>
    );
  return (
    <div className="row wrap gap-12">
      <span className="mute">{source}</span>
      <Button
        needs="dashboard: create"
        title={customizeNote}
        disabled={draft === undefined || customize.isPending}
        onClick={() => draft !== undefined && customize.mutate(draft)}
      >
        {words.customize}
      </Button>
      <ActionFailure error={customize.error} />
    </div>
  );
}
