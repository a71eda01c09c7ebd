package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
)

// shards is the number of history shards. Temporal's own development
// configurations have four; it cannot be changed later.
const shards = 4

// build makes a server of all four services in this process.
func build(o options, d database) (temporal.Server, error) {
	services, hosts := map[string]config.Service{}, map[primitives.ServiceName]static.Hosts{}
	for _, name := range []primitives.ServiceName{
		primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
	} {
		port := o.port
		if name != primitives.FrontendService {
			var err error
			if port, err = free(o.ip); err != nil {
				return nil, err
			}
		}
		services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: o.ip}}
		hosts[name] = static.SingleLocalHost(fmt.Sprintf("%s:%d", o.ip, port))
	}
	conf := &config.Config{
		Services: services,
		Persistence: config.Persistence{
			DefaultStore: "default", VisibilityStore: "visibility", NumHistoryShards: shards,
			DataStores: map[string]config.DataStore{"default": d.store(d.name), "visibility": d.store(d.list)},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
			ClusterInformation: map[string]cluster.ClusterInformation{
				"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: fmt.Sprintf("%s:%d", o.ip, o.port)},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: fmt.Sprintf("%s:%d", o.ip, o.port)},
	}
	conf.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: o.ip}
	conf.Archival.History.State, conf.Archival.Visibility.State = "disabled", "disabled"
	conf.NamespaceDefaults.Archival.History.State, conf.NamespaceDefaults.Archival.Visibility.State = "disabled", "disabled"
	return temporal.NewServer(
		temporal.WithConfig(conf), temporal.ForServices(temporal.DefaultServices), temporal.WithStaticHosts(hosts),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "error", Stdout: true}))),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithDynamicConfigClient(settings(o.dynamic)),
	)
}

// settings are what was asked for, and what the dev server has for itself.
func settings(asked map[string]any) dynamicconfig.StaticClient {
	all := dynamicconfig.StaticClient{
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 100,
	}
	for key, value := range asked {
		all[dynamicconfig.Key(key)] = value
	}
	return all
}

// free is a port that nobody listens on.
func free(ip string) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// namespace makes the default one, unless it is there.
func namespace(ctx context.Context, address string) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	frontend := workflowservice.NewWorkflowServiceClient(conn)
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err = frontend.DescribeNamespace(call, &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
		if err != nil {
			_, _ = frontend.RegisterNamespace(call, &workflowservice.RegisterNamespaceRequest{
				Namespace: "default", WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
			})
		}
		cancel()
		if err == nil {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return ctx.Err()
}
