package check_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// cluster is what a kustomization makes.
type cluster struct {
	deployment appsv1.Deployment
	service    corev1.Service
	budget     policyv1.PodDisruptionBudget
	network    networkingv1.NetworkPolicy
	ingress    *networkingv1.Ingress
	config     corev1.ConfigMap
	secrets    map[string]corev1.Secret
}

// kustomize builds a folder of k8s, with the files that an operator adds, and
// decodes all of it; a field that Kubernetes does not know fails.
func kustomize(t *testing.T, name string) cluster {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(deploy, "k8s"))))
	for file, folder := range map[string]string{"bot-token": "base", "webhook-secret": "webhook", "temporal.toml": "cloud"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, folder, file), []byte(secretFiles[file]), 0o600))
	}
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(dir, name))
	require.NoError(t, err)
	c := cluster{secrets: map[string]corev1.Secret{}}
	for _, resource := range made.Resources() {
		var secret corev1.Secret
		into := map[string]any{
			"Deployment": &c.deployment, "Service": &c.service, "PodDisruptionBudget": &c.budget, "NetworkPolicy": &c.network,
			"ConfigMap": &c.config, "Secret": &secret,
		}[resource.GetKind()]
		if resource.GetKind() == "Ingress" {
			c.ingress = &networkingv1.Ingress{}
			into = c.ingress
		}
		require.NotNil(t, into, "%s is not looked at here", resource.GetKind())
		data, err := resource.MarshalJSON()
		require.NoError(t, err)
		strict, err := json.UnmarshalStrict(data, into) // as Kubernetes: a field's case counts
		require.NoError(t, err)
		require.Empty(t, strict, string(data))
		if secret.Name != "" {
			c.secrets[secret.Name] = secret
		}
	}
	return c
}

func (c cluster) pod() corev1.PodSpec { return c.deployment.Spec.Template.Spec }

func (c cluster) container() corev1.Container { return c.pod().Containers[0] }

// kubernetesUses is the durabot of a pod.
func kubernetesUses(t *testing.T, name string) []use {
	t.Helper()
	c := kustomize(t, name)
	require.Len(t, c.pod().Containers, 1)
	u := use{
		where: "k8s " + name, env: map[string]string{}, files: map[string]string{},
		grace: time.Duration(*c.pod().TerminationGracePeriodSeconds) * time.Second,
		paths: []string{c.container().LivenessProbe.HTTPGet.Path, c.container().ReadinessProbe.HTTPGet.Path, c.deployment.Spec.Template.Annotations["prometheus.io/path"]},
	}
	for _, arg := range c.container().Args {
		u.args = append(u.args, strings.ReplaceAll(arg, "$(POD_IP)", "10.0.0.7"))
	}
	require.Equal(t, c.config.Name, c.container().EnvFrom[0].ConfigMapRef.Name)
	maps.Copy(u.env, c.config.Data)
	for _, variable := range c.container().Env {
		if variable.ValueFrom == nil {
			u.env[variable.Name] = variable.Value
		}
	}
	for _, mount := range c.container().VolumeMounts {
		for file, data := range c.secret(t, mount.Name).Data {
			u.files[mount.MountPath+"/"+file] = string(data)
		}
	}
	if c.ingress != nil {
		u.paths = append(u.paths, c.ingress.Spec.Rules[0].HTTP.Paths[0].Path)
	}
	return []use{u}
}

// secret is what a volume of the pod holds.
func (c cluster) secret(t *testing.T, volume string) corev1.Secret {
	t.Helper()
	for _, v := range c.pod().Volumes {
		if v.Name == volume {
			require.Equal(t, int32(0o440), *v.Secret.DefaultMode)
			require.Contains(t, c.secrets, v.Secret.SecretName)
			return c.secrets[v.Secret.SecretName]
		}
	}
	require.Fail(t, "no volume", volume)
	return corev1.Secret{}
}

func TestAnotherPodStandsByWhateverIsDone(t *testing.T) {
	t.Parallel()
	c := kustomize(t, "base")
	require.Equal(t, int32(2), *c.deployment.Spec.Replicas)
	require.Equal(t, appsv1.RollingUpdateDeploymentStrategyType, c.deployment.Spec.Strategy.Type)
	require.Equal(t, 0, c.deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue())
	require.Equal(t, 1, c.deployment.Spec.Strategy.RollingUpdate.MaxSurge.IntValue())
	require.Equal(t, 1, c.budget.Spec.MaxUnavailable.IntValue())
	require.Equal(t, "kubernetes.io/hostname", c.pod().TopologySpreadConstraints[0].TopologyKey)
	labels := c.deployment.Spec.Template.Labels
	require.NotEmpty(t, labels)
	require.Equal(t, labels, c.deployment.Spec.Selector.MatchLabels)
	require.Equal(t, labels, c.budget.Spec.Selector.MatchLabels)
	require.Equal(t, labels, c.network.Spec.PodSelector.MatchLabels)
	require.Equal(t, labels, c.service.Spec.Selector)
	require.Equal(t, labels, c.pod().TopologySpreadConstraints[0].LabelSelector.MatchLabels)
}

func TestAPodIsNobodysRootAndCanChangeNothing(t *testing.T) {
	t.Parallel()
	c := kustomize(t, "webhook")
	require.False(t, *c.pod().AutomountServiceAccountToken)
	require.False(t, *c.pod().EnableServiceLinks, "they would be variables of the program's prefix")
	require.True(t, *c.pod().SecurityContext.RunAsNonRoot)
	require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, c.pod().SecurityContext.SeccompProfile.Type)
	require.Equal(t, *c.pod().SecurityContext.RunAsUser, *c.pod().SecurityContext.FSGroup, "or it cannot read its token")
	own := c.container().SecurityContext
	require.True(t, *own.ReadOnlyRootFilesystem)
	require.False(t, *own.AllowPrivilegeEscalation)
	require.Equal(t, []corev1.Capability{"ALL"}, own.Capabilities.Drop)
	require.NotEmpty(t, c.container().Resources.Requests)
	limits := c.container().Resources.Limits
	require.Greater(t, limits.Memory().Value(), int64(120<<20), "above what it takes")
	for _, mount := range c.container().VolumeMounts {
		require.True(t, mount.ReadOnly)
	}
	for _, variable := range c.container().Env {
		require.NotEqual(t, "TELEGRAM_BOT_TOKEN", variable.Name)
	}
}

func TestProbesAskThePortThatTheProgramListensAt(t *testing.T) {
	t.Parallel()
	c := kustomize(t, "base")
	port := c.container().Ports[0]
	require.Equal(t, "/healthz", c.container().LivenessProbe.HTTPGet.Path, "a process that waits for Temporal must not be killed")
	require.Equal(t, "/readyz", c.container().ReadinessProbe.HTTPGet.Path)
	for _, name := range []string{c.container().LivenessProbe.HTTPGet.Port.StrVal, c.container().ReadinessProbe.HTTPGet.Port.StrVal, c.service.Spec.Ports[0].TargetPort.StrVal, c.network.Spec.Ingress[0].Ports[0].Port.StrVal} {
		require.Equal(t, port.Name, name)
	}
	require.Contains(t, c.container().Env, corev1.EnvVar{Name: "DURABOT_HTTP", Value: ":8080"})
	require.Equal(t, int32(8080), port.ContainerPort)
	require.Equal(t, "8080", c.deployment.Spec.Template.Annotations["prometheus.io/port"])
}

func TestTheIngressHandsOnOnePathOfTheHostThatTelegramIsToldOf(t *testing.T) {
	t.Parallel()
	c := kustomize(t, "webhook")
	rule := c.ingress.Spec.Rules[0]
	require.Len(t, c.ingress.Spec.Rules, 1)
	require.Len(t, rule.HTTP.Paths, 1)
	require.Equal(t, networkingv1.PathTypeExact, *rule.HTTP.Paths[0].PathType)
	require.Equal(t, []string{rule.Host}, c.ingress.Spec.TLS[0].Hosts)
	require.Equal(t, c.service.Name, rule.HTTP.Paths[0].Backend.Service.Name)
	require.Contains(t, c.container().Args, "--webhook-url=https://"+rule.Host+rule.HTTP.Paths[0].Path)
	require.Contains(t, c.container().Args, "--advertise=$(POD_IP):8080")
	require.Len(t, c.network.Spec.Ingress[0].From, 3, "the controller may come in, too")
	require.Len(t, kustomize(t, "base").network.Spec.Ingress[0].From, 2)
}

func TestTemporalCloudsSettingsCountForAllThereIs(t *testing.T) {
	t.Parallel()
	c := kustomize(t, "cloud")
	require.Equal(t, map[string]string{"TEMPORAL_CONFIG_FILE": "/run/secrets/temporal/temporal.toml"}, c.config.Data, "a variable would count for more")
	require.Contains(t, kubernetesUses(t, "cloud")[0].files, c.config.Data["TEMPORAL_CONFIG_FILE"])
}
