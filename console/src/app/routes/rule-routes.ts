// Routes of rules and of the outputs that they and the data flows have.
import { createRoute, redirect } from '@tanstack/react-router';
import {
  readDeliverySearch,
  readNewOutput,
  readOutputSearch,
} from '../../screens/outputs/output-search.ts';
import { readSimulationSearch } from '../../screens/rules/rule-requests.ts';
import { readListSearch, readPage } from '../../ui/list-search.ts';
import { screen, workspace } from './frame.ts';

const outputs = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs',
  validateSearch: readOutputSearch,
  component: screen(() => import('../../screens/outputs/output-list.tsx'), 'Outputs'),
});

const newOutput = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/new',
  validateSearch: readNewOutput,
  component: screen(() => import('../../screens/outputs/output-settings.tsx'), 'NewOutput'),
});

const output = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/$outputId',
  beforeLoad: ({ params }) =>
    redirect({ to: '/w/$workspaceId/outputs/$outputId/deliveries', params, throw: true }),
});

const outputDeliveries = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/$outputId/deliveries',
  validateSearch: readDeliverySearch,
  component: screen(
    () => import('../../screens/outputs/output-deliveries.tsx'),
    'OutputDeliveries',
  ),
});

const outputSettings = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/$outputId/settings',
  component: screen(() => import('../../screens/outputs/output-settings.tsx'), 'OutputSettings'),
});

const rules = createRoute({
  getParentRoute: () => workspace,
  path: '/rules',
  validateSearch: readListSearch,
  component: screen(() => import('../../screens/rules/rule-list.tsx'), 'Rules'),
});

const newRule = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/new',
  component: screen(() => import('../../screens/rules/rule-edit.tsx'), 'NewRule'),
});

const rule = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId',
  beforeLoad: ({ params }) =>
    redirect({ to: '/w/$workspaceId/rules/$ruleId/edit', params, throw: true }),
});

const ruleEdit = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId/edit',
  component: screen(() => import('../../screens/rules/rule-edit.tsx'), 'RuleEdit'),
});

const logicList = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/logic',
  validateSearch: readListSearch,
  component: screen(() => import('../../screens/rules/logic/logic-list.tsx'), 'LogicList'),
});

const logicPage = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/logic/$logicId',
  component: screen(() => import('../../screens/rules/logic/logic-page.tsx'), 'LogicPage'),
});

const calculations = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/calculations',
  validateSearch: readListSearch,
  component: screen(
    () => import('../../screens/rules/calculations/calculation-list.tsx'),
    'Calculations',
  ),
});

const newCalculation = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/calculations/new',
  component: screen(
    () => import('../../screens/rules/calculations/calculation-page.tsx'),
    'NewCalculation',
  ),
});

const calculation = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/calculations/$calculationId',
  component: screen(
    () => import('../../screens/rules/calculations/calculation-page.tsx'),
    'CalculationPage',
  ),
});

const ruleRuns = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId/runs',
  validateSearch: readPage,
  component: screen(() => import('../../screens/rules/rule-runs.tsx'), 'RuleRuns'),
});

const ruleSimulate = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId/simulate',
  validateSearch: readSimulationSearch,
  component: screen(() => import('../../screens/rules/rule-simulate.tsx'), 'RuleSimulate'),
});

export const outputRoutes = [outputs, newOutput, output, outputDeliveries, outputSettings] as const;

export const ruleRoutes = [
  rules,
  newRule,
  logicList,
  logicPage,
  calculations,
  newCalculation,
  calculation,
  rule,
  ruleEdit,
  ruleRuns,
  ruleSimulate,
] as const;
